// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/unit_dimensions.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"

namespace tenon::compiler::dispatch {
namespace {

// A sum that keeps its dimension, of a tensor with one that is read at 0.
const char kKept[] = R"mlir(
func.func @f(%a: tensor<1x?x?x1xf32>, %n: index) -> tensor<1x?x1xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<1x?x1xf32>
  %s = linalg.fill ins(%z : f32) outs(%e : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (0, i, j, 0)>, affine_map<(i, j) -> (0, i, 0)>],
      iterator_types = ["parallel", "reduction"]} ins(%a : tensor<1x?x?x1xf32>) outs(%s : tensor<1x?x1xf32>) {
    ^bb0(%x: f32, %y: f32):
      %t = arith.addf %x, %y : f32
      linalg.yield %t : f32
  } -> tensor<1x?x1xf32>
  return %r : tensor<1x?x1xf32>
}
)mlir";

// A sum of everything, kept as a tensor of one element.
const char kOneElement[] = R"mlir(
func.func @f(%a: tensor<?xf32>) -> tensor<1x1xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x1xf32>
  %s = linalg.fill ins(%z : f32) outs(%e : tensor<1x1xf32>) -> tensor<1x1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (0, 0)>],
      iterator_types = ["reduction"]} ins(%a : tensor<?xf32>) outs(%s : tensor<1x1xf32>) {
    ^bb0(%x: f32, %y: f32):
      %t = arith.addf %x, %y : f32
      linalg.yield %t : f32
  } -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
)mlir";

// The mean of rows that keeps its dimension, as layer norms have it: what is computed from it is of a vector.
const char kMean[] = R"mlir(
#id = affine_map<(i, j, k) -> (i, j, k)>
func.func @f(%s: tensor<2x24xf32>, %w: tensor<2x24x1xf32>) -> tensor<2x24xf32> {
  %n = arith.constant 64.0 : f32
  %k = tensor.expand_shape %s [[0], [1, 2]] output_shape [2, 24, 1] : tensor<2x24xf32> into tensor<2x24x1xf32>
  %e = tensor.empty() : tensor<2x24x1xf32>
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%k, %w : tensor<2x24x1xf32>, tensor<2x24x1xf32>) outs(%e : tensor<2x24x1xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %i = linalg.index 2 : index
      %c = arith.index_cast %i : index to i32
      %g = arith.sitofp %c : i32 to f32
      %d = arith.divf %x, %n : f32
      %p = arith.mulf %d, %y : f32
      %q = arith.addf %p, %g : f32
      linalg.yield %q : f32
  } -> tensor<2x24x1xf32>
  %r = tensor.collapse_shape %m [[0], [1, 2]] : tensor<2x24x1xf32> into tensor<2x24xf32>
  return %r : tensor<2x24xf32>
}
)mlir";

// A vector for each channel of a single image.
const char kChannels[] = R"mlir(
#id = affine_map<(n, c, y) -> (n, c, y)>
func.func @f(%a: tensor<1x64x9xf32>, %v: tensor<64xf32>) -> tensor<1x64x9xf32> {
  %k = tensor.expand_shape %v [[0, 1, 2]] output_shape [1, 64, 1] : tensor<64xf32> into tensor<1x64x1xf32>
  %e = tensor.empty() : tensor<1x64x9xf32>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(n, c, y) -> (n, c, 0)>, #id],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a, %k : tensor<1x64x9xf32>, tensor<1x64x1xf32>) outs(%e : tensor<1x64x9xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %t = arith.addf %x, %y : f32
      linalg.yield %t : f32
  } -> tensor<1x64x9xf32>
  return %r : tensor<1x64x9xf32>
}
)mlir";

// Rows that a list names, each of which is one, and what is computed of each.
std::string gatherOfRows(const std::string &rows) {
  return "#all = affine_map<(i, j, k) -> (i, j, k)>\nfunc.func @f(%x: tensor<5x9xf32>, %l: tensor<" + rows +
         "xi32>, %n: index) -> tensor<" + rows + "x9xf32> {\n%e = tensor.empty(" + (rows == "?" ? "%n" : "") +
         ") : tensor<" + rows +
         "x1x9xf32>\n%g = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i)>, #all], iterator_types = "
         "[\"parallel\", \"parallel\", \"parallel\"]} ins(%l : tensor<" +
         rows + "xi32>) outs(%e : tensor<" + rows +
         "x1x9xf32>) {\n^bb0(%p: i32, %o: f32):\n%q = arith.index_cast %p : i32 to index\n"
         "%k = linalg.index 2 : index\n%r = tensor.extract %x[%q, %k] : tensor<5x9xf32>\n"
         "linalg.yield %r : f32\n} -> tensor<" +
         rows +
         "x1x9xf32>\n%h = linalg.generic {indexing_maps = [#all, #all], iterator_types = [\"parallel\", \"parallel\", "
         "\"parallel\"]} ins(%g : tensor<" +
         rows + "x1x9xf32>) outs(%e : tensor<" + rows +
         "x1x9xf32>) {\n^bb0(%p: f32, %o: f32):\n%r = arith.addf %p, %p : f32\nlinalg.yield %r : f32\n} -> tensor<" +
         rows + "x1x9xf32>\n%c = tensor.collapse_shape %h [[0], [1, 2]] : tensor<" + rows + "x1x9xf32> into tensor<" +
         rows + "x9xf32>\nreturn %c : tensor<" + rows + "x9xf32>\n}";
}

// A gate: the channels of images of one place, times a matrix.
std::string gate(const std::string &place) {
  std::string text = R"mlir(
#image = affine_map<(n, f, y, x, c) -> (n, c, y, x)>
#filters = affine_map<(n, f, y, x, c) -> (f, c)>
#result = affine_map<(n, f, y, x, c) -> (n, f, y, x)>
func.func @f(%a: tensor<2x32xPxPxf32>, %w: tensor<8x32xf32>) -> tensor<2x8xPxPxf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8xPxPxf32>
  %s = linalg.fill ins(%z : f32) outs(%e : tensor<2x8xPxPxf32>) -> tensor<2x8xPxPxf32>
  %r = linalg.generic {indexing_maps = [#image, #filters, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<2x32xPxPxf32>, tensor<8x32xf32>) outs(%s : tensor<2x8xPxPxf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %o, %p : f32
      linalg.yield %t : f32
  } -> tensor<2x8xPxPxf32>
  return %r : tensor<2x8xPxPxf32>
}
)mlir";
  for (size_t at = 0; (at = text.find('P', at)) != std::string::npos;)
    text.replace(at, 1, place);
  return text;
}

class UnitDimensionsTest : public KernelTextTest {
protected:
  static std::vector<unsigned> ranks(mlir::func::FuncOp function) {
    std::vector<unsigned> ranks;
    for (mlir::AffineMap map : (*function.getOps<mlir::linalg::GenericOp>().begin()).getIndexingMapsArray())
      ranks.push_back(map.getNumResults());
    return ranks;
  }
};

TEST_F(UnitDimensionsTest, ResultsAreIndexedByLoopsAndComeBack) {
  auto function = parseFunction(kKept);
  dropUnitDimensionsOfResults(function);
  ASSERT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
  EXPECT_EQ(ranks(function), (std::vector<unsigned>{4, 1}));
  auto op = *function.getOps<mlir::linalg::GenericOp>().begin();
  EXPECT_TRUE(op.getDpsInits()[0].getDefiningOp<mlir::linalg::FillOp>());
  EXPECT_EQ(llvm::range_size(function.getOps<mlir::tensor::ExpandShapeOp>()), 1u);
}

TEST_F(UnitDimensionsTest, NoDimensionStays) {
  auto function = parseFunction(kOneElement);
  dropUnitDimensionsOfResults(function);
  ASSERT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
  EXPECT_EQ(ranks(function), (std::vector<unsigned>{1, 0}));
  auto expand = *function.getOps<mlir::tensor::ExpandShapeOp>().begin();
  EXPECT_EQ(expand.getStaticOutputShape(), (llvm::ArrayRef<int64_t>{1, 1}));
}

TEST_F(UnitDimensionsTest, ImagesOfOnePlaceAreRowsOfAMatrix) {
  auto function = parseFunction(gate("1"));
  dropUnitDimensionsOfResults(function);
  ASSERT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
  EXPECT_EQ(ranks(function), (std::vector<unsigned>{2, 2, 2}));
}

TEST_F(UnitDimensionsTest, ImagesOfMorePlacesStay) {
  auto function = parseFunction(gate("7"));
  dropUnitDimensionsOfResults(function);
  EXPECT_EQ(ranks(function), (std::vector<unsigned>{4, 2, 4}));
}

TEST_F(UnitDimensionsTest, InputsAreIndexedByLoops) {
  auto function = parseFunction(kKept);
  dropUnitDimensionsOfInputs(function);
  ASSERT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
  EXPECT_EQ(ranks(function), (std::vector<unsigned>{2, 3}));
}

TEST_F(UnitDimensionsTest, AddedOnesGoBehindWhatReadsThem) {
  auto function = parseFunction(kMean);
  moveUnitDimensions(function);
  ASSERT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
  EXPECT_EQ(ranks(function), (std::vector<unsigned>{2, 2, 2}));
  auto op = *function.getOps<mlir::linalg::GenericOp>().begin();
  EXPECT_EQ(op.getNumLoops(), 2u);
  EXPECT_TRUE(op.getBody()->getOps<mlir::linalg::IndexOp>().empty()); // it was 0
  EXPECT_EQ((*function.getOps<mlir::func::ReturnOp>().begin())->getOperand(0), op.getResult(0));
}

TEST_F(UnitDimensionsTest, OnesThatAreTakenAwayGoInFrontOfWhatComputesThem) {
  for (const char *rows : {"7", "?"}) {
    auto function = parseFunction(gatherOfRows(rows));
    moveUnitDimensions(function);
    ASSERT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
    for (auto op : function.getOps<mlir::linalg::GenericOp>())
      EXPECT_EQ(op.getNumLoops(), 2u) << rows;
    EXPECT_TRUE(function.getOps<mlir::tensor::CollapseShapeOp>().empty()) << rows;
  }
}

// A mean that is to keep its dimension, along a loop of its own, read at %place.
std::string keptMean(const std::string &from, const std::string &kept, const std::string &place) {
  return "func.func @f(%s: tensor<" + from + "f32>, %x: tensor<6x9xf32>) -> tensor<6x9xf32> {\n" +
         "%n = arith.constant 6.0 : f32\n%e = tensor.empty() : tensor<" + kept +
         "f32>\n%m = linalg.generic {indexing_maps = [affine_map<(i, j) -> (" + (from.empty() ? "" : "j") +
         ")>, affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]} ins(%s : tensor<" + from +
         "f32>) outs(%e : tensor<" + kept +
         "f32>) {\n^bb0(%p: f32, %o: f32):\n%r = arith.divf %p, %n : f32\nlinalg.yield %r : f32\n} -> tensor<" + kept +
         "f32>\n%c = tensor.empty() : tensor<6x9xf32>\n"
         "%d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (" +
         place +
         ")>, affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]} ins(%x, %m : "
         "tensor<6x9xf32>, "
         "tensor<" +
         kept +
         "f32>) outs(%c : tensor<6x9xf32>) {\n^bb0(%p: f32, %q: f32, %o: f32):\n%r = arith.subf %p, %q : f32\n"
         "linalg.yield %r : f32\n} -> tensor<6x9xf32>\nreturn %d : tensor<6x9xf32>\n}";
}

TEST_F(UnitDimensionsTest, AnAddedDimensionThatIsReadAtZeroGoes) {
  auto function = parseFunction(keptMean("9x", "1x9x", "0, j"));
  moveUnitDimensions(function);
  ASSERT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
  EXPECT_EQ(ranks(function), (std::vector<unsigned>{1, 1}));
  auto reader = *std::next(function.getOps<mlir::linalg::GenericOp>().begin());
  EXPECT_TRUE(reader.getDpsInputs()[1].getDefiningOp<mlir::linalg::GenericOp>());
}

TEST_F(UnitDimensionsTest, AllOfThemMayGo) {
  auto function = parseFunction(keptMean("", "1x1x", "0, 0"));
  moveUnitDimensions(function);
  ASSERT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
  EXPECT_EQ(ranks(function), (std::vector<unsigned>{0, 0}));
}

TEST_F(UnitDimensionsTest, AnotherLoopOfOneIsAsGoodToReadAlong) {
  // Read along k, which goes; j stays.
  auto function = parseFunction(R"mlir(
#all = affine_map<(i, j, k, l) -> (i, j, k, l)>
func.func @f(%x: tensor<3x1xi32>) -> tensor<3x1x9xi32> {
  %e = tensor.empty() : tensor<3x1x1x9xi32>
  %g = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, k)>, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<3x1xi32>) outs(%e : tensor<3x1x1x9xi32>) {
    ^bb0(%p: i32, %o: i32):
      linalg.yield %p : i32
  } -> tensor<3x1x1x9xi32>
  %c = tensor.collapse_shape %g [[0], [1], [2, 3]] : tensor<3x1x1x9xi32> into tensor<3x1x9xi32>
  return %c : tensor<3x1x9xi32>
})mlir");
  moveUnitDimensions(function);
  ASSERT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
  EXPECT_EQ(ranks(function), (std::vector<unsigned>{2, 3}));
  auto op = *function.getOps<mlir::linalg::GenericOp>().begin();
  EXPECT_EQ(op.getDpsInputs()[0], function.getArgument(0));
}

// Queries, keys and values side by side, which a reshape takes apart and gives a dimension of one.
const char kApart[] = R"mlir(
func.func @f(%a: tensor<8x4x48xf16>) -> tensor<3x8x4x16xf16> {
  %k = tensor.expand_shape %a [[0, 1], [2], [3, 4]] output_shape [1, 8, 4, 3, 16] : tensor<8x4x48xf16> into tensor<1x8x4x3x16xf16>
  %e = tensor.empty() : tensor<3x8x4x1x16xf16>
  %t = linalg.generic {indexing_maps = [affine_map<(u, m, b, c, d) -> (u, m, b, c, d)>, affine_map<(u, m, b, c, d) -> (c, m, b, u, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%k : tensor<1x8x4x3x16xf16>) outs(%e : tensor<3x8x4x1x16xf16>) {
    ^bb0(%x: f16, %o: f16):
      linalg.yield %x : f16
  } -> tensor<3x8x4x1x16xf16>
  %r = tensor.collapse_shape %t [[0], [1], [2, 3], [4]] : tensor<3x8x4x1x16xf16> into tensor<3x8x4x16xf16>
  return %r : tensor<3x8x4x16xf16>
}
)mlir";

TEST_F(UnitDimensionsTest, AReshapeMayDoMoreThanToAddOne) {
  auto function = parseFunction(kApart);
  moveUnitDimensions(function);
  ASSERT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
  EXPECT_EQ(ranks(function), (std::vector<unsigned>{4, 4}));
  auto op = *function.getOps<mlir::linalg::GenericOp>().begin();
  EXPECT_EQ((*function.getOps<mlir::func::ReturnOp>().begin())->getOperand(0), op.getResult(0));
  EXPECT_TRUE(op.getDpsInputs()[0].getDefiningOp<mlir::tensor::ExpandShapeOp>());
}

TEST_F(UnitDimensionsTest, VectorsAreReadAsTheyWere) {
  auto function = parseFunction(kChannels);
  moveUnitDimensions(function);
  ASSERT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
  EXPECT_EQ(ranks(function), (std::vector<unsigned>{3, 1, 3}));
  auto op = *function.getOps<mlir::linalg::GenericOp>().begin();
  EXPECT_EQ(op.getDpsInputs()[1], function.getArgument(1));
}

TEST_F(UnitDimensionsTest, WhatIsIndexedByLoopsStays) {
  auto function = parseFunction(kRowSum);
  auto before = *function.getOps<mlir::linalg::GenericOp>().begin();
  dropUnitDimensionsOfInputs(function);
  dropUnitDimensionsOfResults(function);
  EXPECT_EQ(*function.getOps<mlir::linalg::GenericOp>().begin(), before);
}

} // namespace
} // namespace tenon::compiler::dispatch
