// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/unit_sums.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {
namespace {

class UnitSums : public KernelTextTest {
protected:
  /// A convolution with windows of r x s elements of c channels, behind the pass.
  mlir::linalg::GenericOp convolution(const std::string &r, const std::string &s, const std::string &c) {
    const std::string image = "tensor<2x" + std::to_string(6 + std::stoi(r)) + "x" + std::to_string(6 + std::stoi(s)) +
                              "x" + c + "xf32>",
                      filters = "tensor<" + r + "x" + s + "x" + c + "x5xf32>";
    auto function = parseFunction(
        "func.func @f(%i: " + image + ", %w: " + filters +
        ", %o: tensor<2x7x7x5xf32>) -> tensor<2x7x7x5xf32> {\n%v = linalg.generic {indexing_maps = ["
        "affine_map<(n, h, w, k, r, s, c) -> (n, h + r, w + s, c)>, affine_map<(n, h, w, k, r, s, c) -> (r, s, c, k)>, "
        "affine_map<(n, h, w, k, r, s, c) -> (n, h, w, k)>], iterator_types = [\"parallel\", \"parallel\", "
        "\"parallel\", \"parallel\", \"reduction\", \"reduction\", \"reduction\"]} ins(%i, %w : " +
        image + ", " + filters +
        ") outs(%o : tensor<2x7x7x5xf32>) {\n^bb0(%x: f32, %y: f32, %z: f32):\n%p = arith.mulf %x, %y : f32\n"
        "%t = arith.addf %z, %p : f32\nlinalg.yield %t : f32\n} -> tensor<2x7x7x5xf32>\n"
        "return %v : tensor<2x7x7x5xf32>\n}");
    dropUnitSums(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_)));
    return *function.getOps<mlir::linalg::GenericOp>().begin();
  }
};

TEST_F(UnitSums, AWindowOfOneIsAProductOfMatrices) {
  mlir::linalg::GenericOp op = convolution("1", "1", "4");
  EXPECT_EQ(op.getNumReductionLoops(), 1u);
  for (mlir::AffineMap map : op.getIndexingMapsArray())
    EXPECT_TRUE(map.isProjectedPermutation());
}

TEST_F(UnitSums, OneRowOfAWindowStaysAWindow) {
  mlir::linalg::GenericOp op = convolution("1", "3", "4");
  EXPECT_EQ(op.getNumReductionLoops(), 2u);
  EXPECT_FALSE(op.getIndexingMapsArray()[0].isProjectedPermutation());
}

TEST_F(UnitSums, ASumOfOneElementStaysASum) {
  EXPECT_EQ(convolution("1", "1", "1").getNumReductionLoops(), 3u);
}

/// Whether all of `size` numbers of each of seven indices are inside.
TEST_F(UnitSums, AReductionOfOneElementIsElementwise) {
  for (const char *size : {"1", "2", "?"}) {
    auto function =
        parseFunction(std::string("func.func @f(%i: tensor<7x") + size +
                      "xi1>) -> tensor<7xi1> {\n%t = arith.constant true\n%e = tensor.empty() : tensor<7xi1>\n"
                      "%s = linalg.fill ins(%t : i1) outs(%e : tensor<7xi1>) -> tensor<7xi1>\n"
                      "%v = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], "
                      "iterator_types = [\"parallel\", \"reduction\"]} ins(%i : tensor<7x" +
                      size +
                      "xi1>) outs(%s : tensor<7xi1>) {\n^bb0(%x: i1, %y: i1):\n%r = arith.andi %y, %x : i1\n"
                      "linalg.yield %r : i1\n} -> tensor<7xi1>\nreturn %v : tensor<7xi1>\n}");
    dropUnitReductions(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_)));
    auto op = *function.getOps<mlir::linalg::GenericOp>().begin();
    EXPECT_EQ(op.getNumReductionLoops(), std::string(size) == "1" ? 0u : 1u) << size;
  }
}

/// One row of a window goes, unless its image has other rows than the result: image[h, w] of 9 rows, `rows` of the
/// result.
class UnitWindows : public KernelTextTest {
protected:
  mlir::linalg::GenericOp oneRow(const std::string &image, const std::string &result) {
    const std::string given = "tensor<" + image + "x5xf32>", made = "tensor<" + result + "x5xf32>";
    auto function = parseFunction(
        "func.func @f(%i: " + given + ", %w: tensor<1x4xf32>, %o: " + made + ") -> " + made +
        " {\n%v = linalg.generic {indexing_maps = [affine_map<(h, k, r, c) -> (h + r, k)>, affine_map<(h, k, r, c) -> "
        "(r, c)>, affine_map<(h, k, r, c) -> (h, k)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\", "
        "\"reduction\"]} ins(%i, %w : " +
        given + ", tensor<1x4xf32>) outs(%o : " + made +
        ") {\n^bb0(%x: f32, %y: f32, %z: f32):\n%p = arith.mulf %x, %y : f32\n%t = arith.addf %z, %p : f32\n"
        "linalg.yield %t : f32\n} -> " +
        made + "\nreturn %v : " + made + "\n}");
    dropUnitSums(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_)));
    return *function.getOps<mlir::linalg::GenericOp>().begin();
  }
};

TEST_F(UnitWindows, OneRowOfAWindowGoesWhereTheImageIsAllRead) {
  EXPECT_EQ(oneRow("9", "9").getNumReductionLoops(), 1u);
  EXPECT_EQ(oneRow("?", "?").getNumReductionLoops(), 1u);
}

TEST_F(UnitWindows, OneRowOfAWindowStaysWhereAPartOfTheImageIsRead) {
  EXPECT_EQ(oneRow("9", "7").getNumReductionLoops(), 2u);
  EXPECT_EQ(oneRow("?", "7").getNumReductionLoops(), 2u);
}

/// The index of the image along which a window of 5 lies, for one result, behind dropUnitOffsets.
class UnitOffsets : public KernelTextTest {
protected:
  mlir::linalg::GenericOp oneResult(const std::string &width) {
    const std::string image = "tensor<1x" + width + "x17xf32>";
    auto function = parseFunction(
        "func.func @f(%i: " + image +
        ", %w: tensor<5x17x2xf32>, %o: tensor<1x1x2xf32>) -> tensor<1x1x2xf32> {\n%v = linalg.generic {indexing_maps "
        "= [affine_map<(n, x, f, i, c) -> (n, x * 3 + i, c)>, affine_map<(n, x, f, i, c) -> (i, c, f)>, "
        "affine_map<(n, x, f, i, c) -> (n, x, f)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", "
        "\"reduction\", \"reduction\"]} ins(%i, %w : " +
        image +
        ", tensor<5x17x2xf32>) outs(%o : tensor<1x1x2xf32>) {\n^bb0(%x: f32, %y: f32, %z: f32):\n"
        "%p = arith.mulf %x, %y : f32\n%t = arith.addf %z, %p : f32\nlinalg.yield %t : f32\n} -> tensor<1x1x2xf32>\n"
        "return %v : tensor<1x1x2xf32>\n}");
    dropUnitOffsets(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_)));
    return *function.getOps<mlir::linalg::GenericOp>().begin();
  }
};

TEST_F(UnitOffsets, AWindowAsLargeAsItsImageIsReadAsAMatrix) {
  EXPECT_TRUE(oneResult("5").getIndexingMapsArray()[0].isProjectedPermutation());
}

TEST_F(UnitOffsets, AWindowThatIsSmallerThanItsImageStaysAWindow) {
  EXPECT_FALSE(oneResult("7").getIndexingMapsArray()[0].isProjectedPermutation());
  EXPECT_FALSE(oneResult("?").getIndexingMapsArray()[0].isProjectedPermutation());
}

/// A sum over all of a tensor of two dimensions.
class SumOfAll : public KernelTextTest {
protected:
  unsigned loops(const std::string &sizes) {
    const std::string type = "tensor<" + sizes + "xf32>";
    auto function = parseFunction(
        "func.func @f(%x: " + type + ", %y: " + type +
        ", %o: tensor<f32>) -> tensor<f32> {\n%v = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, "
        "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = [\"reduction\", \"reduction\"]} "
        "ins(%x, %y : " +
        type + ", " + type +
        ") outs(%o : tensor<f32>) {\n^bb0(%a: f32, %b: f32, %c: f32):\n%d = arith.subf %a, %b : f32\n"
        "%t = arith.addf %c, %d : f32\nlinalg.yield %t : f32\n} -> tensor<f32>\nreturn %v : tensor<f32>\n}");
    joinSumsOfAll(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_)));
    return (*function.getOps<mlir::linalg::GenericOp>().begin()).getNumLoops();
  }
};

TEST_F(SumOfAll, OfUnknownSizeIsOverOneDimension) {
  EXPECT_EQ(loops("?x?"), 1u);
  EXPECT_EQ(loops("3x?"), 1u);
  EXPECT_EQ(loops("3x5"), 2u); // of known sizes, splits/ divide one dimension
}

} // namespace
} // namespace tenon::compiler::dispatch
