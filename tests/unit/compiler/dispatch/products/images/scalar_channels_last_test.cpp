// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/images/scalar_channels_last.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {
namespace {

class ScalarChannelsLast : public KernelTextTest {};

// Exact f32, 3 x 3 places: rows of 28 places are cut by tiles, rows of 32 are not.
TEST_F(ScalarChannelsLast, AreReadWhereTilesCutRows) {
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
