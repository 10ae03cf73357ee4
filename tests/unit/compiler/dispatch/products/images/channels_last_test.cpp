// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/images/channels_last.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {
namespace {

class ChannelsLast : public KernelTextTest {
protected:
  /// Of images[n, c, y, x] and filters[f, c, r, s], behind bringChannelsLast(): what makes the two operands.
  std::pair<mlir::Operation *, mlir::Operation *> operands(const std::string &images, int64_t window,
                                                           int64_t places = 14) {
    const std::string side = std::to_string(window), wide = std::to_string(places - 1 + window),
                      image = "tensor<" + images + "x256x" + wide + "x" + wide + "xbf16>",
                      filters = "tensor<192x256x" + side + "x" + side + "xbf16>", out = std::to_string(places),
                      result = "tensor<" + images + "x192x" + out + "x" + out + "xf32>";
    mlir::func::FuncOp function = parseFunction(
        "func.func @f(%a: " + image + ", %b: " + filters + ", %c: " + result + ") -> " + result +
        " {\n%p = linalg.generic {indexing_maps = [affine_map<(n, f, y, x, c, r, s) -> (n, c, y + r, x + s)>, "
        "affine_map<(n, f, y, x, c, r, s) -> (f, c, r, s)>, affine_map<(n, f, y, x, c, r, s) -> (n, f, y, x)>], "
        "iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", \"reduction\", \"reduction\", "
        "\"reduction\"]} ins(%a, %b : " +
        image + ", " + filters + ") outs(%c : " + result +
        ") {\n^bb0(%x: bf16, %y: bf16, %s: f32):\n%g = arith.extf %x : bf16 to f32\n%h = arith.extf %y : bf16 to f32\n"
        "%m = arith.mulf %g, %h : f32\n%t = arith.addf %s, %m : f32\nlinalg.yield %t : f32\n} -> " +
        result + "\nreturn %p : " + result + "\n}");
    mlir::linalg::GenericOp op = *function.getOps<mlir::linalg::GenericOp>().begin();
    const std::optional<Convolution> convolution = Convolution::ofUnknownImages(op);
    EXPECT_TRUE(convolution);
    bringChannelsLast(*convolution);
    EXPECT_TRUE(succeeded(mlir::verify(function))) << messages_;
    return {op.getDpsInputs()[0].getDefiningOp(), op.getDpsInputs()[1].getDefiningOp()};
  }
};

TEST_F(ChannelsLast, BothOperandsAreCopied) {
  for (const char *images : {"8", "?"}) {
    const auto [image, filters] = operands(images, 3);
    EXPECT_TRUE(llvm::isa_and_nonnull<mlir::linalg::TransposeOp>(image));
    EXPECT_TRUE(llvm::isa_and_nonnull<mlir::linalg::TransposeOp>(filters));
  }
}

TEST_F(ChannelsLast, FiltersOfOnePlaceStayWhereTheyAre) {
  for (const char *images : {"8", "?"}) {
    const auto [image, filters] = operands(images, 1);
    EXPECT_TRUE(llvm::isa_and_nonnull<mlir::linalg::TransposeOp>(image));
    auto view = llvm::dyn_cast_or_null<mlir::tensor::ExpandShapeOp>(filters);
    ASSERT_TRUE(view);
    EXPECT_EQ(view.getResultType().getShape(), (llvm::ArrayRef<int64_t>{192, 1, 1, 256}));
  }
}

TEST_F(ChannelsLast, ImagesOfOnePlaceStayWherePlacesAreVectors) {
  for (int64_t places : {24, 28})
    EXPECT_EQ(operands("8", 1, places).first, nullptr);
  for (const auto &[images, window, places] : {std::tuple("?", 1, 24), {"8", 3, 24}, {"8", 1, 14}})
    EXPECT_TRUE(llvm::isa_and_nonnull<mlir::linalg::TransposeOp>(operands(images, window, places).first));
}

// Exact f32, 3 x 3 places: rows of 28 places are cut by tiles, rows of 32 are not.
TEST_F(ChannelsLast, ThreadsReadThemLastWhereTilesCutRows) {
  for (const auto &[places, isTurned] : {std::pair<int64_t, bool>{28, true}, {32, false}}) {
    const std::string out = std::to_string(places), wide = std::to_string(places + 2),
                      image = "tensor<32x128x" + wide + "x" + wide + "xf32>", filters = "tensor<128x128x3x3xf32>",
                      result = "tensor<32x128x" + out + "x" + out + "xf32>";
    mlir::func::FuncOp function = parseFunction(
        "func.func @f(%a: " + image + ", %b: " + filters + ") -> " + result +
        " {\n%z = arith.constant 0.0 : f32\n%e = tensor.empty() : " + result +
        "\n%c = linalg.fill ins(%z : f32) outs(%e : " + result + ") -> " + result +
        "\n%p = linalg.generic {indexing_maps = [affine_map<(n, f, y, x, c, r, s) -> (n, c, y + r, x + s)>, "
        "affine_map<(n, f, y, x, c, r, s) -> (f, c, r, s)>, affine_map<(n, f, y, x, c, r, s) -> (n, f, y, x)>], "
        "iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", \"reduction\", \"reduction\", "
        "\"reduction\"]} ins(%a, %b : " +
        image + ", " + filters + ") outs(%c : " + result +
        ") {\n^bb0(%x: f32, %y: f32, %s: f32):\n%m = arith.mulf %x, %y : f32\n%t = arith.addf %s, %m : f32\n"
        "linalg.yield %t : f32\n} -> " +
        result + "\nreturn %p : " + result + "\n}");
    const std::optional<Convolution> convolution = Convolution::of(*function.getOps<mlir::linalg::GenericOp>().begin());
    ASSERT_TRUE(convolution);
    bringScalarChannelsLast(*convolution);
    EXPECT_TRUE(succeeded(mlir::verify(function))) << messages_;
    auto op = *function.getOps<mlir::linalg::GenericOp>().begin();
    EXPECT_EQ(llvm::isa_and_nonnull<mlir::linalg::TransposeOp>(op.getDpsInputs()[0].getDefiningOp()), isTurned);
    EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType()).getShape().back(), isTurned ? 128 : 32);
    EXPECT_EQ(op.getStaticLoopRanges().back(), isTurned ? 128 : 3);
  }
}

} // namespace
} // namespace tenon::compiler::dispatch
