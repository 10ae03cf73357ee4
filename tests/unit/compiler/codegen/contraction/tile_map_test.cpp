// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/tile_map.h"

#include "tests/unit/compiler/codegen/contraction/convolutions.h"
#include "tests/unit/compiler/codegen/contraction/products.h"

namespace tenon::compiler::codegen {
namespace {

using Box = std::vector<int64_t>;

class TileMapTest : public ProductTest {
protected:
  /// Of the right operand.
  std::optional<TileMap> mapOfRight(const std::string &right, const Sizes &sizes, const std::string &element = "bf16",
                                    const std::string &total = "f32", uint32_t side = 256, uint32_t parts = 1) {
    const bool hasBatch = sizes.count('b') != 0;
    const KernelFunction &kernel = read(hasBatch ? "bmk" : "mk", right, sizes, element, total);
    const std::optional<Product> product = Product::of(kernel, *shape_);
    const uint32_t depth = element == "i8" ? 128 : 64;
    return product ? mapOf(*shape_, *product, product->right, side, depth, parts) : std::nullopt;
  }
  /// Of the left operand, without boxes of rows that are not there.
  std::optional<TileMap> tightMapOfLeft(const std::string &left, const std::string &rows, uint32_t side,
                                        uint32_t parts = 1) {
    const KernelFunction &kernel = read(left, "nk", {{'m', rows}, {'n', "512"}, {'k', "512"}});
    const std::optional<Product> product = Product::of(kernel, *shape_);
    return product ? tightMapOf(*shape_, *product, product->left, side, 64, parts) : std::nullopt;
  }
  static Box boxOf(const std::optional<TileMap> &map) { return map ? Box(map->box.begin(), map->box.end()) : Box(); }
};

TEST_F(TileMapTest, AlongTheReducedElementsOneBoxIsTheTile) {
  const auto map = mapOfRight("nk", {{'m', "512"}, {'n', "512"}, {'k', "512"}});
  EXPECT_EQ(boxOf(map), (Box{256, 64}));
  EXPECT_EQ(map->boxes, 1u);
  EXPECT_EQ(map->binding, 1u);
}

TEST_F(TileMapTest, PartsOfATileAreBoxesOfTheirOwn) {
  const Sizes sizes = {{'m', "512"}, {'n', "512"}, {'k', "512"}};
  const auto along = mapOfRight("nk", sizes, "bf16", "f32", 256, 2),
             across = mapOfRight("kn", sizes, "bf16", "f32", 256, 2);
  EXPECT_EQ(boxOf(along), (Box{128, 64}));
  EXPECT_EQ(along->boxes, 2u);
  EXPECT_EQ(along->across, 128u);
  EXPECT_EQ(boxOf(across), (Box{64, 64}));
  EXPECT_FALSE(mapOfRight("kn", sizes, "bf16", "f32", 192, 2)) << "three boxes";
}

TEST_F(TileMapTest, BoxesAreNoHigherThanTheRows) {
  const auto few = tightMapOfLeft("mk", "17", 64), shared = tightMapOfLeft("mk", "17", 64, 4);
  EXPECT_EQ(boxOf(few), (Box{17, 64}));
  EXPECT_EQ(few->bytes(), 17u * 128);
  EXPECT_EQ(boxOf(shared), (Box{8, 64})) << "parts begin where the swizzle does";
  EXPECT_EQ(shared->boxes, 4u);
  const auto across = tightMapOfLeft("km", "72", 256); // two of the four blocks of 64 rows
  EXPECT_EQ(boxOf(across), (Box{64, 64}));
  EXPECT_EQ(across->boxes, 2u);
}

TEST_F(TileMapTest, BoxesOfTf32ThatLieAcrossHave32Positions) {
  const KernelFunction &kernel = read("km", "nk", {{'m', "40"}, {'n', "512"}, {'k', "512"}}, "f32");
  std::optional<Product> product = Product::of(kernel, *shape_);
  EXPECT_FALSE(mapOf(*shape_, *product, product->left, 128, 32));
  product->roundsToTf32 = true;
  EXPECT_EQ(boxOf(mapOf(*shape_, *product, product->left, 128, 32)), (Box{32, 32}));
  const auto tight = tightMapOf(*shape_, *product, product->left, 128, 32);
  EXPECT_EQ(tight->boxes, 2u);
  EXPECT_TRUE(tight->element.isTF32());
}

TEST_F(TileMapTest, WhereTheLastTileHasSomeRowsBoxesMayBeLeftOut) {
  const auto whole = tightMapOfLeft("mk", "512", 256), ragged = tightMapOfLeft("mk", "300", 256),
             unknown = tightMapOfLeft("mk", "?", 128);
  EXPECT_EQ(boxOf(whole), (Box{256, 64}));
  EXPECT_FALSE(whole->mayLack);
  for (const auto &map : {ragged, unknown}) {
    EXPECT_EQ(boxOf(map), (Box{64, 64}));
    EXPECT_TRUE(map->mayLack);
  }
  EXPECT_EQ(ragged->boxes, 4u);
  EXPECT_EQ(unknown->boxes, 2u);
  EXPECT_FALSE(tightMapOfLeft("mk", "?", 64)->mayLack) << "one box of 64";
}

TEST_F(TileMapTest, AcrossABoxIsARowOf128Bytes) {
  const auto map = mapOfRight("kn", {{'m', "512"}, {'n', "512"}, {'k', "512"}});
  EXPECT_EQ(boxOf(map), (Box{64, 64}));
  EXPECT_EQ(map->boxes, 4u);
}

TEST_F(TileMapTest, TheLastBoxAcrossMayBeReadInPart) {
  const Sizes sizes = {{'b', "3"}, {'m', "512"}, {'n', "784"}, {'k', "512"}};
  auto boxes = [&](uint32_t side) {
    const KernelFunction &kernel = read("bmk", "bkn", sizes);
    const std::optional<Product> product = Product::of(kernel, *shape_);
    const std::optional<TileMap> map = tightMapOf(*shape_, *product, product->right, side, 64);
    EXPECT_EQ(boxOf(map), (Box{1, 64, 64}));
    EXPECT_EQ(map->bytes(), map->boxes * 64 * 128);
    return std::pair(map->boxes, map->mayLack);
  };
  EXPECT_EQ(boxes(112), std::pair(2u, false));
  EXPECT_EQ(boxes(208), std::pair(4u, true)) << "the last tile has 160 columns";
  EXPECT_EQ(boxes(128), std::pair(2u, true)) << "the last tile has 16";
  EXPECT_EQ(boxes(64), std::pair(1u, false));
}

TEST_F(TileMapTest, ABatchIsADimensionOfOne) {
  EXPECT_EQ(boxOf(mapOfRight("bnk", {{'b', "3"}, {'m', "512"}, {'n', "512"}, {'k', "512"}})), (Box{1, 256, 64}));
}

TEST_F(TileMapTest, RowsHaveToBeMultiplesOf16Bytes) {
  EXPECT_FALSE(mapOfRight("nk", {{'m', "512"}, {'n', "512"}, {'k', "511"}}));
  EXPECT_TRUE(mapOfRight("nk", {{'m', "512"}, {'n', "511"}, {'k', "512"}}));
  EXPECT_FALSE(mapOfRight("kn", {{'m', "512"}, {'n', "511"}, {'k', "512"}}));
  // A size that is not known is tested when the kernel runs.
  EXPECT_TRUE(mapOfRight("nk", {{'m', "?"}, {'n', "?"}, {'k', "?"}}));
}

TEST_F(TileMapTest, BytesAreNotTurned) {
  EXPECT_EQ(boxOf(mapOfRight("nk", {{'m', "512"}, {'n', "512"}, {'k', "512"}}, "i8", "i32")), (Box{256, 128}));
  EXPECT_FALSE(mapOfRight("kn", {{'m', "512"}, {'n', "512"}, {'k', "512"}}, "i8", "i32"));
}

TEST_F(TileMapTest, AResultIsBoxesOfAWarp) {
  auto boxOfResult = [&](const std::string &element, const Sizes &sizes) {
    const bool hasBatch = sizes.count('b') != 0;
    const KernelFunction &kernel = read(hasBatch ? "bmk" : "mk", hasBatch ? "bkn" : "kn", sizes, element, element);
    const std::optional<Product> product = Product::of(kernel, *shape_);
    return boxOf(resultMapOf(*shape_, *product, *product->op, product->op->outputs.front().tensor, 16, 64));
  };
  EXPECT_EQ(boxOfResult("f16", {{'m', "512"}, {'n', "512"}, {'k', "512"}}), (Box{16, 64}));
  EXPECT_EQ(boxOfResult("f16", {{'b', "3"}, {'m', "?"}, {'n', "?"}, {'k', "512"}}), (Box{1, 16, 64}));
  EXPECT_EQ(boxOfResult("f16", {{'m', "512"}, {'n', "511"}, {'k', "512"}}), Box()) << "rows begin anywhere";
  EXPECT_EQ(boxOfResult("f32", {{'m', "512"}, {'n', "512"}, {'k', "512"}}), Box()) << "256 bytes";
}

// Heads in the middle of both operands: their sizes are letters a and b, one axis of the kernel.
TEST_F(TileMapTest, AnAxisOfSeveralDimensionsHasOneOfEach) {
  auto mapOfLeft = [&](const std::string &kept, const std::string &inner) {
    const std::string text = R"mlir(
func.func @k(%a: tensor<512xAxBxf16>, %b: tensor<512xAxBxf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, a, k) -> (m, a, k)>, affine_map<(m, n, a, k) -> (n, a, k)>, affine_map<(m, n, a, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%a, %b : tensor<512xAxBxf16>, tensor<512xAxBxf16>) outs(%c : tensor<512x512xf32>) {
    ^bb0(%x: f16, %y: f16, %s: f32):
      %v = arith.extf %x : f16 to f32
      %w = arith.extf %y : f16 to f32
      %p = arith.mulf %v, %w : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
})mlir";
    std::string with = text;
    for (const auto &[letter, size] : {std::pair("xA", kept), std::pair("xB", inner)})
      for (size_t at = with.find(letter); at != std::string::npos; at = with.find(letter, at))
        with.replace(at + 1, 1, size);
    const KernelFunction kernel = *KernelFunction::read(parseFunction(with));
    const GroupShape shape = GroupShape::of(kernel);
    const std::optional<Product> product = Product::of(kernel, shape);
    return product ? mapOf(shape, *product, product->left, 128, 64) : std::nullopt;
  };
  const auto map = mapOfLeft("12", "128");
  ASSERT_TRUE(map);
  EXPECT_EQ(boxOf(map), (Box{128, 1, 64}));
  EXPECT_EQ(map->dimensions[1].terms.front().behind, 128);
  EXPECT_EQ(map->dimensions[2].terms.front().size, 128);
  EXPECT_TRUE(mapOfLeft("5", "64"));
  EXPECT_FALSE(mapOfLeft("12", "96")) << "a step would begin in one head and end in the next";
  EXPECT_FALSE(mapOfLeft("16", "4")) << "rows of 8 bytes";
}

// Rows of an image whose result has its channels in front of them: the box of a tile is several of its rows.
TEST_F(TileMapTest, RowsOfSeveralDimensionsAreABoxOfThem) {
  auto mapOfImage = [&](const std::string &height, const std::string &width) {
    std::string text = R"mlir(
func.func @k(%a: tensor<2xYxXx64xf16>, %b: tensor<256x64xf16>, %c: tensor<2x256xYxXxf32>) -> tensor<2x256xYxXxf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(b, n, y, x, k) -> (b, y, x, k)>, affine_map<(b, n, y, x, k) -> (n, k)>, affine_map<(b, n, y, x, k) -> (b, n, y, x)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%a, %b : tensor<2xYxXx64xf16>, tensor<256x64xf16>) outs(%c : tensor<2x256xYxXxf32>) {
    ^bb0(%x: f16, %y: f16, %s: f32):
      %v = arith.extf %x : f16 to f32
      %w = arith.extf %y : f16 to f32
      %p = arith.mulf %v, %w : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<2x256xYxXxf32>
  return %r : tensor<2x256xYxXxf32>
})mlir";
    for (const auto &[letter, size] : {std::pair("xY", height), std::pair("xX", width)})
      for (size_t at = text.find(letter); at != std::string::npos; at = text.find(letter, at))
        text.replace(at + 1, 1, size);
    const KernelFunction kernel = *KernelFunction::read(parseFunction(text));
    const GroupShape shape = GroupShape::of(kernel);
    const std::optional<Product> product = Product::of(kernel, shape);
    EXPECT_TRUE(product);
    return boxOf(mapOf(shape, *product, product->right, 128, 64)); // pixels are the last of the result
  };
  EXPECT_EQ(mapOfImage("64", "64"), (Box{1, 2, 64, 64}));
  EXPECT_EQ(mapOfImage("16", "256"), (Box{1, 1, 128, 64}));
  EXPECT_EQ(mapOfImage("5", "64"), (Box{1, 1, 64, 64})) << "two boxes";
  EXPECT_EQ(mapOfImage("64", "48"), Box()) << "128 positions are no rows of 48";
}

class TileMapOfImage : public ConvolutionTest {
protected:
  std::optional<TileMap> mapOfImage(const Sizes &sizes, uint32_t rows = 128) {
    const KernelFunction &kernel = convolution(sizes);
    const std::optional<Product> product = Product::of(kernel, *shape_);
    return product ? mapOf(*shape_, *product, product->left, rows, 64) : std::nullopt;
  }
};

TEST_F(TileMapOfImage, APatchOfResultsIsABox) {
  const auto map = mapOfImage({.images = 32, .height = 56, .width = 56});
  ASSERT_TRUE(map);
  EXPECT_EQ(Box(map->box.begin(), map->box.end()), (Box{2, 8, 8, 64}));
  EXPECT_EQ(map->boxes, 1u);
  ASSERT_EQ(map->dimensions[1].terms.size(), 2u) << "the row of the result and that of the window";
}

TEST_F(TileMapOfImage, StepsAreStridesOfTheBox) {
  const auto map = mapOfImage({.images = 32, .height = 28, .width = 28, .step = 2});
  ASSERT_TRUE(map);
  EXPECT_EQ(Box(map->box.begin(), map->box.end()), (Box{8, 7, 7, 64}));
  EXPECT_EQ(Box(map->strides.begin(), map->strides.end()), (Box{1, 2, 2, 1}));
}

TEST_F(TileMapOfImage, ChannelsThatAreNoVectorsHaveNone) {
  EXPECT_FALSE(mapOfImage({.channels = 60}));
  EXPECT_FALSE(mapOfImage({.channels = 16})) << "most of a step would be zeros";
  EXPECT_TRUE(mapOfImage({.channels = 40}));
}

} // namespace
} // namespace tenon::compiler::codegen
