// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/images/channel_order.h"

#include "compiler/dispatch/analysis/products/contraction.h"
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

// A convolution in groups reads and makes tensors whose channels are two dimensions: reshapes on the way have that
// order, too.
TEST_F(ChannelOrder, ReshapesBetweenChannelsAndGroupsArePassed) {
  auto function = parseFunction(R"mlir(
    #id = affine_map<(n, c, y, x) -> (n, c, y, x)>
    func.func @f(%a: tensor<2x9x9x32xbf16>, %w: tensor<4x8x8x3x3xbf16>) -> tensor<2x7x7x32xbf16> {
      %zero = arith.constant 0.0 : f32
      %ea = tensor.empty() : tensor<2x32x9x9xbf16>
      %t = linalg.transpose ins(%a : tensor<2x9x9x32xbf16>) outs(%ea : tensor<2x32x9x9xbf16>) permutation = [0, 3, 1, 2]
      %g = tensor.expand_shape %t [[0], [1, 2], [3], [4]] output_shape [2, 4, 8, 9, 9]
          : tensor<2x32x9x9xbf16> into tensor<2x4x8x9x9xbf16>
      %e = tensor.empty() : tensor<2x32x7x7xf32>
      %eg = tensor.expand_shape %e [[0], [1, 2], [3], [4]] output_shape [2, 4, 8, 7, 7]
          : tensor<2x32x7x7xf32> into tensor<2x4x8x7x7xf32>
      %z = linalg.fill ins(%zero : f32) outs(%eg : tensor<2x4x8x7x7xf32>) -> tensor<2x4x8x7x7xf32>
      %d = linalg.conv_2d_ngchw_gfchw ins(%g, %w : tensor<2x4x8x9x9xbf16>, tensor<4x8x8x3x3xbf16>)
          outs(%z : tensor<2x4x8x7x7xf32>) -> tensor<2x4x8x7x7xf32>
      %c = tensor.collapse_shape %d [[0], [1, 2], [3], [4]] : tensor<2x4x8x7x7xf32> into tensor<2x32x7x7xf32>
      %en = tensor.empty() : tensor<2x32x7x7xbf16>
      %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%c : tensor<2x32x7x7xf32>) outs(%en : tensor<2x32x7x7xbf16>) {
        ^bb0(%f: f32, %o: bf16):
          %r = arith.truncf %f : f32 to bf16
          linalg.yield %r : bf16
      } -> tensor<2x32x7x7xbf16>
      %eb = tensor.empty() : tensor<2x7x7x32xbf16>
      %l = linalg.transpose ins(%n : tensor<2x32x7x7xbf16>) outs(%eb : tensor<2x7x7x32xbf16>) permutation = [0, 2, 3, 1]
      return %l : tensor<2x7x7x32xbf16>
    })mlir");
  generalizeOperations(function);
  orderChannels(function);
  eraseDeadOperations(function);
  EXPECT_TRUE(succeeded(mlir::verify(function))) << messages_;
  EXPECT_EQ(turnsIn(function), 0u);
  auto expand = *function.getOps<mlir::tensor::ExpandShapeOp>().begin();
  EXPECT_EQ(expand.getResultType().getShape(), (llvm::ArrayRef<int64_t>{2, 9, 9, 4, 8}));
  auto collapse = *function.getOps<mlir::tensor::CollapseShapeOp>().begin();
  EXPECT_EQ(collapse.getResultType().getShape(), (llvm::ArrayRef<int64_t>{2, 7, 7, 32}));
}

// Channels that are shuffled come out of a transposition of two groups: the reshape behind it puts others together.
TEST_F(ChannelOrder, ShuffledChannelsKeepTheirPlaces) {
  auto function = parseFunction(R"mlir(
    #id = affine_map<(n, y, x, c) -> (n, y, x, c)>
    func.func @f(%a: tensor<2x8x8x9x9xf32>, %w: tensor<64x3x3xf32>) -> tensor<2x64x7x7xf32> {
      %zero = arith.constant 0.0 : f32
      %ea = tensor.empty() : tensor<2x8x8x9x9xf32>
      %t = linalg.transpose ins(%a : tensor<2x8x8x9x9xf32>) outs(%ea : tensor<2x8x8x9x9xf32>) permutation = [0, 2, 1, 3, 4]
      %s = tensor.collapse_shape %t [[0], [1, 2], [3], [4]] : tensor<2x8x8x9x9xf32> into tensor<2x64x9x9xf32>
      %e = tensor.empty() : tensor<2x64x7x7xf32>
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64x7x7xf32>) -> tensor<2x64x7x7xf32>
      %d = linalg.depthwise_conv_2d_nchw_chw ins(%s, %w : tensor<2x64x9x9xf32>, tensor<64x3x3xf32>)
          outs(%z : tensor<2x64x7x7xf32>) -> tensor<2x64x7x7xf32>
      return %d : tensor<2x64x7x7xf32>
    })mlir");
  generalizeOperations(function);
  orderChannels(function);
  eraseDeadOperations(function);
  EXPECT_TRUE(succeeded(mlir::verify(function))) << messages_;
}

} // namespace
} // namespace tenon::compiler::dispatch
