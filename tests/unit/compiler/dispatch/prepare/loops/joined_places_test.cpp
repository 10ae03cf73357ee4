// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/joined_places.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {
namespace {

class JoinedPlaces : public KernelTextTest {
protected:
  /// A product of an image's channels and filters, and what is computed from its result, behind the pass.
  /// @param written of the last one's result
  mlir::func::FuncOp product(const std::string &places, const std::string &written = "n, f, y, x") {
    const std::string image = "tensor<8x256x" + places + "xbf16>", sums = "tensor<8x128x" + places + "xf32>",
                      y = places.substr(0, 2), x = places.substr(3),
                      result = written == "n, f, y, x"   ? "tensor<8x128x" + places + "xbf16>"
                               : written == "n, y, x, f" ? "tensor<8x" + places + "x128xbf16>"
                                                         : "tensor<8x" + y + "x128x" + x + "xbf16>";
    mlir::func::FuncOp function = parseFunction(
        "func.func @f(%a: " + image + ", %b: tensor<128x256xbf16>, %c: tensor<128xf32>) -> " + result +
        " {\n%z = arith.constant 0.0 : f32\n%e = tensor.empty() : " + sums +
        "\n%i = linalg.fill ins(%z : f32) outs(%e : " + sums + ") -> " + sums +
        "\n%p = linalg.generic {indexing_maps = [affine_map<(n, f, y, x, c) -> (n, c, y, x)>, "
        "affine_map<(n, f, y, x, c) -> (f, c)>, affine_map<(n, f, y, x, c) -> (n, f, y, x)>], iterator_types = "
        "[\"parallel\", \"parallel\", \"parallel\", \"parallel\", \"reduction\"]} ins(%a, %b : " +
        image + ", tensor<128x256xbf16>) outs(%i : " + sums +
        ") {\n^bb0(%x: bf16, %y: bf16, %s: f32):\n%g = arith.extf %x : bf16 to f32\n%h = arith.extf %y : bf16 to f32\n"
        "%m = arith.mulf %g, %h : f32\n%t = arith.addf %s, %m : f32\nlinalg.yield %t : f32\n} -> " +
        sums + "\n%d = tensor.empty() : " + result +
        "\n%r = linalg.generic {indexing_maps = [affine_map<(n, f, y, x) -> (n, f, y, x)>, "
        "affine_map<(n, f, y, x) -> (f)>, affine_map<(n, f, y, x) -> (" +
        written + ")>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\"]} ins(%p, %c : " +
        sums + ", tensor<128xf32>) outs(%d : " + result +
        ") {\n^bb0(%x: f32, %y: f32, %o: bf16):\n%t = arith.addf %x, %y : f32\n%u = arith.truncf %t : f32 to bf16\n"
        "linalg.yield %u : bf16\n} -> " +
        result + "\nreturn %r : " + result + "\n}");
    joinPlaces(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_)));
    return function;
  }
};

TEST_F(JoinedPlaces, OfAProductAndWhatIsComputedFromIt) {
  for (const auto &[places, written] :
       {std::pair("56x56", "n, f, y, x"), {"56x56", "n, y, x, f"}, {"28x28", "n, f, y, x"}}) {
    mlir::func::FuncOp function = product(places, written);
    for (auto op : function.getOps<mlir::linalg::GenericOp>()) {
      EXPECT_EQ(op.getNumParallelLoops(), 3u);
      for (mlir::Value operand : op.getDpsInputs())
        EXPECT_FALSE(operand.getDefiningOp<mlir::tensor::ExpandShapeOp>());
    }
    // The image and the result are reshaped, and nothing between.
    EXPECT_EQ(llvm::range_size(function.getOps<mlir::tensor::CollapseShapeOp>()), 1u);
    EXPECT_EQ(llvm::range_size(function.getOps<mlir::tensor::ExpandShapeOp>()), 1u);
  }
}

TEST_F(JoinedPlaces, RowsThatAreBoxesAndPlacesThatAreNoVectorsStay) {
  for (const char *places : {"56x64", "14x14"})
    for (auto op : product(places).getOps<mlir::linalg::GenericOp>())
      EXPECT_EQ(op.getNumParallelLoops(), 4u);
}

TEST_F(JoinedPlaces, PlacesThatLieApartBehindTheProductStay) {
  for (auto op : product("56x56", "n, y, f, x").getOps<mlir::linalg::GenericOp>())
    EXPECT_EQ(op.getNumParallelLoops(), 4u);
}

} // namespace
} // namespace tenon::compiler::dispatch
