// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/patches/whole_patches.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class WholePatches : public KernelTextTest {
protected:
  /// y[n, f, y, x] = sum of x[n, c, s y + ky, s x + kx] * w[f, c, ky, kx], of a window of `window`.
  mlir::linalg::GenericOp patches(const std::string &image, const std::string &filters, const std::string &result,
                                  const std::string &stride, const std::string &before = "0") {
    auto function = parseFunction("func.func @f(%x: tensor<" + image + "xbf16>, %w: tensor<" + filters +
                                  "xbf16>, %o: tensor<" + result + "xf32>) -> tensor<" + result + R"(xf32> {
      %p = linalg.generic {indexing_maps = [affine_map<(n, f, y, x, c, i, j) -> (n, c, y * )" +
                                  stride + " + i + " + before + ", x * " + stride + R"( + j)>,
          affine_map<(n, f, y, x, c, i, j) -> (f, c, i, j)>, affine_map<(n, f, y, x, c, i, j) -> (n, f, y, x)>],
          iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
          ins(%x, %w : tensor<)" + image +
                                  "xbf16>, tensor<" + filters + "xbf16>) outs(%o : tensor<" + result + R"(xf32>) {
        ^bb0(%a: bf16, %b: bf16, %s: f32):
          %c = arith.extf %a : bf16 to f32
          %d = arith.extf %b : bf16 to f32
          %m = arith.mulf %c, %d : f32
          %t = arith.addf %s, %m : f32
          linalg.yield %t : f32
      } -> tensor<)" + result + "xf32>\nreturn %p : tensor<" +
                                  result + "xf32>\n}\n");
    mlir::linalg::GenericOp op = multiplyPatches(*function.getOps<mlir::linalg::GenericOp>().begin());
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
    return op;
  }
};

TEST_F(WholePatches, LieInTheOrderOfTheFilters) {
  mlir::linalg::GenericOp op = patches("?x3x32x48", "96x3x16x16", "?x96x2x3", "16");
  ASSERT_TRUE(op);
  auto type = mlir::cast<mlir::RankedTensorType>(op.getDpsInputs()[0].getType());
  EXPECT_EQ(type.getShape(), (llvm::ArrayRef<int64_t>{mlir::ShapedType::kDynamic, 2, 3, 3, 16, 16}));
  for (mlir::AffineMap map : op.getIndexingMapsArray())
    EXPECT_TRUE(map.isProjectedPermutation());
  auto copy = op.getDpsInputs()[0].getDefiningOp<mlir::linalg::GenericOp>();
  ASSERT_TRUE(copy);
  std::string text;
  llvm::raw_string_ostream(text) << copy.getIndexingMapsArray()[0];
  EXPECT_EQ(text, "(d0, d1, d2, d3, d4, d5) -> (d0, d3, d1, d4, d2, d5)");
}

TEST_F(WholePatches, OverlapNowhereAndLeaveNothingOut) {
  EXPECT_FALSE(patches("2x3x33x49", "96x3x16x16", "2x96x2x3", "16")) << "a row of the image is in no window";
  EXPECT_FALSE(patches("2x3x24x32", "96x3x16x16", "2x96x2x3", "8")) << "windows overlap";
  EXPECT_FALSE(patches("2x3x31x47", "96x3x15x15", "2x96x2x3", "16")) << "columns between windows are in none";
  EXPECT_FALSE(patches("2x3x33x48", "96x3x16x16", "2x96x2x3", "16", "1")) << "moved";
}

// The filters come first and know how many channels there are, which the image's type does not say.
TEST_F(WholePatches, SizesAreTheImages) {
  auto function = parseFunction(R"mlir(
    func.func @f(%x: tensor<2x?x8x12xf16>, %w: tensor<5x3x4x4xf16>, %o: tensor<2x5x2x3xf32>) -> tensor<2x5x2x3xf32> {
      %p = linalg.generic {indexing_maps = [affine_map<(n, f, y, x, c, i, j) -> (f, c, i, j)>,
          affine_map<(n, f, y, x, c, i, j) -> (n, c, y * 4 + i, x * 4 + j)>, affine_map<(n, f, y, x, c, i, j) -> (n, f, y, x)>],
          iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
          ins(%w, %x : tensor<5x3x4x4xf16>, tensor<2x?x8x12xf16>) outs(%o : tensor<2x5x2x3xf32>) {
        ^bb0(%a: f16, %b: f16, %s: f32):
          %c = arith.extf %a : f16 to f32
          %d = arith.extf %b : f16 to f32
          %m = arith.mulf %c, %d : f32
          %t = arith.addf %s, %m : f32
          linalg.yield %t : f32
      } -> tensor<2x5x2x3xf32>
      return %p : tensor<2x5x2x3xf32>
    })mlir");
  EXPECT_FALSE(multiplyPatches(*function.getOps<mlir::linalg::GenericOp>().begin()));
  EXPECT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
}

TEST_F(WholePatches, ManyChannelsAreLeftToOthers) {
  EXPECT_FALSE(patches("2x32x32x48", "96x32x16x16", "2x96x2x3", "16"));
  EXPECT_FALSE(patches("2x3x4x6", "96x3x2x2", "2x96x2x3", "2")) << "24 bytes are no whole vectors";
}

} // namespace
} // namespace tenon::compiler::dispatch
