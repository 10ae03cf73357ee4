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

} // namespace
} // namespace tenon::compiler::dispatch
