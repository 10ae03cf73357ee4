// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/groups/form_group.h"
#include "compiler/dispatch/outline_kernel.h"

#include "compiler/dispatch/analysis/kernel_config.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"

namespace tenon::compiler::dispatch {
namespace {

using OutlineKernel = KernelTextTest;

Group onlyGroup(mlir::linalg::GenericOp op) {
  std::string reason;
  return *groupOf({op}, reason);
}

TEST_F(OutlineKernel, PassesSizesThenScalarsThenTensors) {
  mlir::FailureOr<OutlinedKernel> kernel = outlineKernel(onlyGroup(firstGeneric(kRowSum)), "sum");
  ASSERT_TRUE(mlir::succeeded(kernel)) << messages_;
  EXPECT_EQ(kernel->function.getName(), "sum");
  ASSERT_EQ(kernel->function.getNumArguments(), 3u);
  EXPECT_TRUE(kernel->function.getArgument(0).getType().isInteger(64));
  EXPECT_TRUE(kernel->function.getArgument(1).getType().isInteger(64));
  EXPECT_EQ(kernel->scalars.size(), 2u);
  EXPECT_EQ(kernel->tensors.size(), 1u);
  EXPECT_EQ(kernel->tensorDims.size(), 2u);
  EXPECT_EQ(kernel->resultDims.size(), 1u);
  ASSERT_EQ(kernel->workload.size(), 2u); // every size, as the first scalars
  EXPECT_EQ(kernel->workload[0], kernel->resultDims[0]);
  auto dims = kernel->function.getArgAttrOfType<mlir::DenseI64ArrayAttr>(2, kDimsAttr);
  EXPECT_EQ(dims.asArrayRef(), (llvm::ArrayRef<int64_t>{0, 1}));
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*kernel->module)));
}

TEST_F(OutlineKernel, AConstantStaysInTheKernel) {
  auto op = firstGeneric(R"mlir(
    func.func @f(%a: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
      %k = arith.constant 2.0 : f32
      %e = tensor.empty() : tensor<4xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
        ^bb0(%x: f32, %o: f32):
          %0 = arith.mulf %x, %k : f32
          %1 = arith.addf %0, %s : f32
          linalg.yield %1 : f32
      } -> tensor<4xf32>
      return %r : tensor<4xf32>
    })mlir");
  mlir::FailureOr<OutlinedKernel> kernel = outlineKernel(onlyGroup(op), "k");
  ASSERT_TRUE(mlir::succeeded(kernel)) << messages_;
  ASSERT_EQ(kernel->scalars.size(), 1u); // %s alone
  EXPECT_TRUE(kernel->scalars[0].getType().isF32());
  EXPECT_TRUE(kernel->workload.empty()); // its sizes are known
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*kernel->module)));
}

TEST_F(OutlineKernel, ATensorReadTwiceIsPassedOnce) {
  auto op = firstGeneric(R"mlir(
    func.func @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %e = tensor.empty() : tensor<4x4xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>,
          affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
          ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
        ^bb0(%x: f32, %y: f32, %o: f32):
          %0 = arith.addf %x, %y : f32
          linalg.yield %0 : f32
      } -> tensor<4x4xf32>
      return %r : tensor<4x4xf32>
    })mlir");
  mlir::FailureOr<OutlinedKernel> kernel = outlineKernel(onlyGroup(op), "k");
  ASSERT_TRUE(mlir::succeeded(kernel)) << messages_;
  EXPECT_EQ(kernel->tensors.size(), 1u);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*kernel->module)));
}

} // namespace
} // namespace tenon::compiler::dispatch
