// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dialect/size_origin.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {
namespace {

class SizeOriginTest : public KernelTextTest {};

TEST_F(SizeOriginTest, GoesThroughWhatIsAsLong) {
  auto function = parseFunction(R"mlir(
    func.func @f(%a: tensor<?x12xf32>, %b: tensor<?xf32>, %given: index) -> tensor<?x3xf32> {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %a, %c0 : tensor<?x12xf32>
      %e = tensor.empty(%n) : tensor<?x12xf32>
      %g = tensor.empty(%given) : tensor<?x12xf32>
      %x = tensor.expand_shape %e [[0], [1, 2]] output_shape [%n, 4, 3] : tensor<?x12xf32> into tensor<?x4x3xf32>
      %y = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x3xf32> into tensor<?x12xf32>
      %z = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x4x3xf32> into tensor<?x3xf32>
      return %z : tensor<?x3xf32>
    })mlir");
  const SizeOrigin size = sizeOriginOf(function.getArgument(0), 0);
  ASSERT_TRUE(bool(size));
  auto tensors = function.getOps<mlir::tensor::EmptyOp>();
  auto folded = llvm::to_vector(function.getOps<mlir::tensor::CollapseShapeOp>());
  EXPECT_EQ(size, sizeOriginOf(*tensors.begin(), 0));
  EXPECT_EQ(size, sizeOriginOf((*tensors.begin()).getDynamicSizes()[0]));
  EXPECT_EQ(size, sizeOriginOf(*function.getOps<mlir::tensor::ExpandShapeOp>().begin(), 0));
  EXPECT_EQ(size, sizeOriginOf(folded[0], 0));
  EXPECT_FALSE(size == sizeOriginOf(folded[1], 0)) << "four times as long";
  EXPECT_FALSE(size == sizeOriginOf(*std::next(tensors.begin()), 0)) << "as long as the caller says";
  EXPECT_FALSE(size == sizeOriginOf(function.getArgument(1), 0)) << "of another argument";
  EXPECT_EQ(sizeOriginOf(function.getArgument(0), 1).constant, 12);
  EXPECT_EQ(sizeOriginOf(function.getArgument(0), 1), sizeOriginOf(folded[0], 1));
}

} // namespace
} // namespace tenon::compiler::dispatch
