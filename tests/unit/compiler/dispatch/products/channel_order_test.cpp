// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/channel_order.h"

#include "compiler/dispatch/analysis/contraction.h"
#include "compiler/dispatch/prepare/prepare.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {
namespace {

std::string tensorOf(int64_t side, const std::string &element) {
  return "tensor<8x128x" + std::to_string(side) + "x" + std::to_string(side) + "x" + element + ">";
}

/// `made` = the convolution of `image`, which is two wider and higher, rounded.
std::string layer(const std::string &made, const std::string &image, int64_t side) {
  const std::string sums = tensorOf(side, "f32"), result = tensorOf(side, "bf16"),
                    id = "affine_map<(n, c, y, x) -> (n, c, y, x)>";
  return "%e" + made + " = tensor.empty() : " + sums + "\n%z" + made + " = linalg.fill ins(%zero : f32) outs(%e" +
         made + " : " + sums + ") -> " + sums + "\n%s" + made + " = linalg.conv_2d_nchw_fchw ins(%" + image +
         ", %w : " + tensorOf(side + 2, "bf16") + ", tensor<128x128x3x3xbf16>) outs(%z" + made + " : " + sums +
         ") -> " + sums + "\n%r" + made + " = tensor.empty() : " + result + "\n%" + made +
         " = linalg.generic {indexing_maps = [" + id + ", " + id +
         "], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\"]} ins(%s" + made + " : " + sums +
         ") outs(%r" + made + " : " + result + ") {\n^bb0(%f: f32, %o: bf16):\n%t = arith.truncf %f : f32 to bf16\n" +
         "linalg.yield %t : bf16\n} -> " + result + "\n";
}

class ChannelOrder : public KernelTextTest {
protected:
  /// Of a function that returns `result`, behind orderChannels().
  mlir::func::FuncOp ordered(const std::string &body, const std::string &result, int64_t side) {
    auto function = parseFunction("func.func @f(%a: " + tensorOf(32, "bf16") + ", %w: tensor<128x128x3x3xbf16>) -> " +
                                  tensorOf(side, "bf16") + " {\n%zero = arith.constant 0.0 : f32\n" + body +
                                  "return %" + result + " : " + tensorOf(side, "bf16") + "\n}");
    generalizeOperations(function);
    orderChannels(function);
    eraseDeadOperations(function);
    EXPECT_TRUE(succeeded(mlir::verify(function))) << messages_;
    return function;
  }
  static size_t turnsIn(mlir::func::FuncOp function) {
    return llvm::range_size(function.getOps<mlir::linalg::TransposeOp>());
  }
};

// Three copies in front of three convolutions become one where the image comes in, and one where it goes out.
TEST_F(ChannelOrder, ImagesBetweenConvolutionsHaveTheirChannelsLast) {
  auto function = ordered(layer("b", "a", 30) + layer("c", "b", 28) + layer("d", "c", 26), "d", 26);
  EXPECT_EQ(turnsIn(function), 2u);
  for (auto op : function.getOps<mlir::linalg::GenericOp>()) {
    EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(op.getResult(0).getType()).getShape().back(), 128);
    if (!contractionOf(op))
      EXPECT_TRUE(op.getIndexingMapsArray().back().isIdentity());
  }
}

// One convolution has one copy either way, and would have another one behind it.
TEST_F(ChannelOrder, OneConvolutionStaysAsItIs) {
  auto function = ordered(layer("b", "a", 30), "b", 30);
  EXPECT_EQ(turnsIn(function), 0u);
}

// A depthwise convolution between tensors that the program itself has with their channels last.
TEST_F(ChannelOrder, WindowsOfEachChannelLieAsWhatIsAroundThem) {
  auto function = parseFunction(R"mlir(
    #id = affine_map<(n, y, x, c) -> (n, y, x, c)>
    func.func @f(%a: tensor<2x9x9x32xf32>, %w: tensor<32x3x3xf32>) -> tensor<2x7x7x32xf32> {
      %zero = arith.constant 0.0 : f32
      %ea = tensor.empty() : tensor<2x32x9x9xf32>
      %t = linalg.transpose ins(%a : tensor<2x9x9x32xf32>) outs(%ea : tensor<2x32x9x9xf32>) permutation = [0, 3, 1, 2]
      %e = tensor.empty() : tensor<2x32x7x7xf32>
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x32x7x7xf32>) -> tensor<2x32x7x7xf32>
      %d = linalg.depthwise_conv_2d_nchw_chw ins(%t, %w : tensor<2x32x9x9xf32>, tensor<32x3x3xf32>)
          outs(%z : tensor<2x32x7x7xf32>) -> tensor<2x32x7x7xf32>
      %eb = tensor.empty() : tensor<2x7x7x32xf32>
      %r = linalg.transpose ins(%d : tensor<2x32x7x7xf32>) outs(%eb : tensor<2x7x7x32xf32>) permutation = [0, 2, 3, 1]
      return %r : tensor<2x7x7x32xf32>
    })mlir");
  generalizeOperations(function);
  orderChannels(function);
  eraseDeadOperations(function);
  EXPECT_TRUE(succeeded(mlir::verify(function))) << messages_;
  EXPECT_EQ(turnsIn(function), 0u);
  for (auto op : function.getOps<mlir::linalg::GenericOp>()) {
    EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(op.getResult(0).getType()).getShape().back(), 32);
    EXPECT_TRUE(op.getIndexingMapsArray().back().getResults().back() ==
                op.getIndexingMapsArray().front().getResults().back());
  }
}

} // namespace
} // namespace tenon::compiler::dispatch
