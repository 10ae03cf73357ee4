// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/product.h"

#include "compiler/dispatch/analysis/products/hopper_tf32.h"
#include "tests/unit/compiler/codegen/contraction/products.h"

namespace tenon::compiler::codegen {
namespace {

class ProductOf : public ProductTest {
protected:
  Product product(const std::string &left, const std::string &right, const std::string &element,
                  const std::string &total) {
    const KernelFunction &kernel = read(left, right, {{'m', "128"}, {'n', "256"}, {'k', "64"}}, element, total);
    std::optional<Product> found = Product::of(kernel, *shape_);
    EXPECT_TRUE(found);
    return *found;
  }
};

TEST_F(ProductOf, KnowsWhichElementsAreAdjacent) {
  Product plain = product("mk", "kn", "bf16", "f32");
  EXPECT_TRUE(plain.left.isAlongReduced);
  EXPECT_FALSE(plain.right.isAlongReduced);
  EXPECT_TRUE(plain.left.plain && plain.right.plain);
  Product turned = product("km", "nk", "bf16", "f32");
  EXPECT_FALSE(turned.left.isAlongReduced);
  EXPECT_TRUE(turned.right.isAlongReduced);
}

TEST_F(ProductOf, ElementsOfTensorCores) {
  EXPECT_TRUE(product("mk", "nk", "bf16", "f32").tensorCoreElement().isBF16());
  EXPECT_TRUE(product("mk", "nk", "f16", "f32").warpElement().isF16());
  const Product bytes = product("mk", "nk", "i8", "i32");
  EXPECT_FALSE(bytes.tensorCoreElement());
  EXPECT_TRUE(bytes.warpElement().isSignedInteger(8));
  EXPECT_TRUE(bytes.warpElement().isSignedInteger(8));
  // f32 is multiplied as it is.
  EXPECT_FALSE(product("mk", "nk", "f32", "f32").warpElement());
  // Products of i8 that are summed in i8 wrap.
  EXPECT_FALSE(product("mk", "nk", "i8", "i8").warpElement());
}

TEST_F(ProductOf, WarpgroupsReadOneSideOfTf32Across) {
  auto rounded = [&](const std::string &left, const std::string &right, const std::string &element = "f32") {
    Product found = product(left, right, element, "f32");
    found.roundsToTf32 = true;
    return found;
  };
  const Product left = rounded("km", "nk");
  EXPECT_TRUE(left.isReadAcross(left.left));
  EXPECT_FALSE(left.isReadAcross(left.right));
  EXPECT_EQ(left.forWarpgroups().rows, left.rows);
  // The right one alone is multiplied as the left one of the exchanged product.
  const Product right = rounded("mk", "kn"), exchanged = right.forWarpgroups();
  EXPECT_FALSE(right.isReadAcross(right.right));
  EXPECT_TRUE(exchanged.isReadAcross(exchanged.left));
  EXPECT_EQ(exchanged.rows, right.columns);
  for (const auto &[first, second, element] :
       {std::tuple("km", "kn", "f32"), std::tuple("mk", "nk", "f32"), std::tuple("km", "nk", "bf16")}) {
    const Product other = rounded(first, second, element);
    EXPECT_FALSE(other.isReadAcross(other.left));
    EXPECT_EQ(other.forWarpgroups().rows, other.rows);
  }
  const Product exact = product("mk", "kn", "f32", "f32");
  EXPECT_EQ(exact.forWarpgroups().rows, exact.rows);
}

TEST_F(ProductOf, PlacesOfImagesAreApartWhereTheyHaveBoxes) {
  auto isApart = [&](const std::string &left, const std::string &right, const Sizes &sizes, bool isForHopper = true,
                     const std::string &element = "bf16", const std::string &total = "f32") {
    const KernelFunction &kernel = read(left, right, sizes, element, total);
    mlir::func::FuncOp function = kernel.function;
    if (isForHopper)
      function->setAttr(dispatch::kHopperOnlyAttr, mlir::UnitAttr::get(&context_));
    const std::optional<Product> found = Product::of(kernel, *shape_);
    EXPECT_TRUE(found);
    const size_t places = std::max(found->rows.size(), found->columns.size());
    EXPECT_EQ(found->batch.size(), places == 1 ? 1u : 0u);
    return places == 1;
  };
  const Sizes sizes = {{'b', "32"}, {'m', "256"}, {'n', "784"}, {'k', "512"}};
  auto with = [&](char letter, const std::string &size) {
    Sizes changed = sizes;
    changed[letter] = size;
    return changed;
  };
  EXPECT_TRUE(isApart("mk", "bkn", sizes));
  EXPECT_TRUE(isApart("km", "bkn", sizes));
  EXPECT_TRUE(isApart("bkm", "kn", with('m', "400"))) << "rows, too";
  EXPECT_FALSE(isApart("mk", "bkn", sizes, false)) << "other targets";
  EXPECT_FALSE(isApart("mk", "bkn", with('n', "3136"))) << "whole lines";
  EXPECT_FALSE(isApart("mk", "bkn", with('n', "196"))) << "no vectors";
  EXPECT_FALSE(isApart("mk", "bkn", with('n', "56"))) << "few places";
  EXPECT_FALSE(isApart("mk", "bkn", with('k', "516"))) << "the other side has no boxes";
  EXPECT_FALSE(isApart("mk", "bkn", with('m', "16"))) << "few rows";
  EXPECT_FALSE(isApart("mk", "bkn", with('k', "56"))) << "no whole step";
  EXPECT_FALSE(isApart("mk", "bnk", sizes)) << "places lie along the sum";
  for (char letter : {'b', 'm', 'n', 'k'})
    EXPECT_FALSE(isApart("mk", "bkn", with(letter, "?"))) << letter;
  EXPECT_FALSE(isApart("mk", "bkn", sizes, true, "f32"));
  EXPECT_FALSE(isApart("mk", "bkn", sizes, true, "i8", "i32"));
}

TEST_F(ProductOf, BytesOfF8AreFactors) {
  const Product same = product("mk", "nk", "f8E4M3FN", "f32");
  EXPECT_TRUE(same.isOfF8());
  EXPECT_TRUE(same.addsSteps());
  EXPECT_TRUE(mlir::isa<mlir::Float8E4M3FNType>(same.warpElement()));
  EXPECT_TRUE(same.left.value.getType().isInteger(8));
  EXPECT_TRUE(same.left.plain && same.right.plain);
  EXPECT_EQ(same.widthOf(same.left, *shape_), 16u);
  const Product mixed = product("mk", "nk", "f8E4M3FN f8E5M2", "f32");
  EXPECT_TRUE(mlir::isa<mlir::Float8E4M3FNType>(mixed.warpElement()));
  EXPECT_TRUE(mlir::isa<mlir::Float8E5M2Type>(mixed.rightWarpElement()));
  EXPECT_FALSE(product("mk", "nk", "i8", "i32").isOfF8());
}

TEST_F(ProductOf, TheMatrixAndNotItsScalesSaysWhatIsAdjacent) {
  for (const char *scale : {"k", "n"}) { // of each row of the matrix, or of each column
    std::string text = R"mlir(
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @k(%a: tensor<64x256xbf16>, %w: tensor<256x256xi8>, %s: tensor<256xf32>, %c: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %e = tensor.empty() : tensor<256x256xbf16>
  %b = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (SCALE)>, affine_map<(k, n) -> (k, n)>],
      iterator_types = ["parallel", "parallel"]} ins(%w, %s : tensor<256x256xi8>, tensor<256xf32>) outs(%e : tensor<256x256xbf16>) {
    ^bb0(%x: i8, %y: f32, %o: bf16):
      %f = arith.sitofp %x : i8 to f32
      %p = arith.mulf %f, %y : f32
      %t = arith.truncf %p : f32 to bf16
      linalg.yield %t : bf16
  } -> tensor<256x256xbf16>
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x256xbf16>, tensor<256x256xbf16>) outs(%c : tensor<64x256xf32>) {
    ^bb0(%x: bf16, %y: bf16, %sum: f32):
      %v = arith.extf %x : bf16 to f32
      %u = arith.extf %y : bf16 to f32
      %p = arith.mulf %v, %u : f32
      %t = arith.addf %sum, %p : f32
      linalg.yield %t : f32
  } -> tensor<64x256xf32>
  return %r : tensor<64x256xf32>
}
)mlir";
    text.replace(text.find("SCALE"), 5, scale);
    kernel_ = KernelFunction::read(parseFunction(text));
    ASSERT_TRUE(mlir::succeeded(kernel_)) << messages_;
    shape_.emplace(GroupShape::of(*kernel_));
    const std::optional<Product> found = Product::of(*kernel_, *shape_);
    ASSERT_TRUE(found.has_value());
    EXPECT_FALSE(found->right.isAlongReduced) << scale;
  }
}

TEST_F(ProductOf, VectorsAreOf16Bytes) {
  const Product halves = product("mk", "nk", "bf16", "f32");
  EXPECT_EQ(halves.widthOf(halves.left, *shape_), 8u);
  const Product floats = product("mk", "nk", "f32", "f32");
  EXPECT_EQ(floats.widthOf(floats.left, *shape_), 4u);
}

/// result[d, x, f] = sum of image[x + r - 1, d * apart + c] * filters[d, c, r, f]: parts of an image's channels.
class ProductOfParts : public KernelTest {
protected:
  bool readsBorder(int apart) {
    auto kernel = KernelFunction::read(parseFunction(R"(
func.func @k(%i: tensor<512x256xf32>, %w: tensor<2x128x3x256xf32>, %o: tensor<2x512x256xf32>) -> tensor<2x512x256xf32> {
  %zero = arith.constant 0.0 : f32
  %v = linalg.generic {indexing_maps = [affine_map<(d, x, f, r, c) -> (d, c, r, f)>, affine_map<(d, x, f, r, c) -> (d, x, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%w : tensor<2x128x3x256xf32>) outs(%o : tensor<2x512x256xf32>) {
  ^bb0(%y: f32, %s: f32):
    %d = linalg.index 0 : index
    %x = linalg.index 1 : index
    %r = linalg.index 3 : index
    %c = linalg.index 4 : index
    %apart = arith.constant )" + std::to_string(apart) +
                                                     R"( : index
    %one = arith.constant 1 : index
    %size = arith.constant 512 : index
    %part = arith.muli %d, %apart : index
    %channel = arith.addi %part, %c : index
    %wide = arith.addi %x, %r : index
    %place = arith.subi %wide, %one : index
    %inside = arith.cmpi ult, %place, %size : index
    %read = tensor.extract %i[%place, %channel] : tensor<512x256xf32>
    %e = arith.select %inside, %read, %zero : f32
    %p = arith.mulf %e, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x512x256xf32>
  return %v : tensor<2x512x256xf32>
})"));
    EXPECT_TRUE(mlir::succeeded(kernel)) << messages_;
    const std::optional<Product> product = Product::of(*kernel, GroupShape::of(*kernel));
    EXPECT_TRUE(product);
    return product && (product->left.border || product->right.border);
  }
};

TEST_F(ProductOfParts, ChannelsOfABorderLieInVectors) {
  EXPECT_TRUE(readsBorder(128));
  EXPECT_FALSE(readsBorder(126)) << "vectors would begin anywhere";
}

} // namespace
} // namespace tenon::compiler::codegen
