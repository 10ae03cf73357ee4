// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/kernel_function.h"

#include "tests/unit/compiler/codegen/kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tenon::compiler::codegen {
namespace {

using KernelFunctionTest = KernelTest;

TEST_F(KernelFunctionTest, ReadsArgumentsSizesAndLoops) {
  auto function = parseFunction(kernelText("f32", "arith.negf"));
  auto kernel = KernelFunction::read(function);
  ASSERT_TRUE(mlir::succeeded(kernel)) << messages_;
  EXPECT_EQ(kernel->elementsPerThread, 4u);
  ASSERT_EQ(kernel->scalarArguments.size(), 1u);
  EXPECT_EQ(kernel->scalarArguments[0], 0u);
  ASSERT_EQ(kernel->tensorArguments.size(), 1u);
  EXPECT_EQ(kernel->tensorArguments[0], 1u);
  ASSERT_EQ(kernel->only().loops.size(), 1u);
  EXPECT_EQ(kernel->only().loops[0].value, function.getArgument(0));
  EXPECT_FALSE(kernel->workgroupSize.has_value());
  EXPECT_EQ(kernel->bindings, 2u);
  ASSERT_EQ(kernel->only().outputs.size(), 1u);
  EXPECT_EQ(kernel->only().outputs[0].tensor.binding, 1u);
  EXPECT_FALSE(kernel->only().outputs[0].startTensor.has_value());
  EXPECT_FALSE(kernel->only().outputs[0].startScalar);
}

TEST_F(KernelFunctionTest, ReadsWhatAReductionStartsFrom) {
  std::string text = R"mlir(
    func.func @k(%a: tensor<4x8xf32>, %s: f32) -> tensor<4xf32> attributes {tenon.elements_per_thread = 1 : i64} {
      %e = tensor.empty() : tensor<4xf32>
      %f = linalg.fill ins(%s : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
          iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
        ^bb0(%x: f32, %y: f32):
          %t = arith.addf %x, %y : f32
          linalg.yield %t : f32
      } -> tensor<4xf32>
      return %r : tensor<4xf32>
    })mlir";
  auto function = parseFunction(text);
  auto kernel = KernelFunction::read(function);
  ASSERT_TRUE(mlir::succeeded(kernel)) << messages_;
  EXPECT_EQ(kernel->only().outputs[0].startScalar, function.getArgument(1));
  EXPECT_EQ(kernel->only().loops[1].size, 8);
  EXPECT_FALSE(kernel->only().loops[1].value);
}

TEST_F(KernelFunctionTest, ReadsAFallbackThatWritesOverItsArgument) {
  std::string text = R"mlir(
    func.func @k(%m: i32, %n: i32, %a: tensor<?xf32> {tenon.dims = array<i64: 0>}, %b: tensor<?xf32> {tenon.dims = array<i64: 0>})
        -> (tensor<?xf32>, tensor<?xf32> {tenon.tied = 2 : i64})
        attributes {tenon.elements_per_thread = 1 : i64, tenon.workgroup_size = array<i32: 8, 4, 1>} {
      %s = arith.maxui %m, %n : i32
      %d = arith.index_castui %s : i32 to index
      %e = tensor.empty(%d) : tensor<?xf32>
      %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]} ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%e, %e : tensor<?xf32>, tensor<?xf32>) {
        ^bb0(%x: f32, %y: f32, %o: f32, %p: f32):
          %t = arith.addf %x, %y : f32
          %u = arith.mulf %x, %y : f32
          linalg.yield %t, %u : f32, f32
      } -> (tensor<?xf32>, tensor<?xf32>)
      return %r#1, %r#0 : tensor<?xf32>, tensor<?xf32>
    })mlir";
  auto function = parseFunction(text);
  auto kernel = KernelFunction::read(function);
  ASSERT_TRUE(mlir::succeeded(kernel)) << messages_;
  EXPECT_EQ(kernel->workgroupSize, (std::array<int32_t, 3>{8, 4, 1}));
  // Bindings: %a, %b, the first result. The operation's results are returned the other way around.
  EXPECT_EQ(kernel->bindings, 3u);
  EXPECT_EQ(kernel->only().outputs[0].tensor.binding, 0u);
  EXPECT_EQ(kernel->only().outputs[1].tensor.binding, 2u);
  EXPECT_TRUE(kernel->isWritten(0));
  EXPECT_FALSE(kernel->isWritten(1));
  // Its size is computed by the function.
  EXPECT_TRUE(kernel->only().outputs[0].tensor.shape[0].value.getDefiningOp<mlir::arith::IndexCastUIOp>());
}

TEST_F(KernelFunctionTest, RefusesAFunctionWithoutAKernel) {
  auto kernel = KernelFunction::read(parseFunction("func.func @k(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                                                   "return %a : tensor<4xf32>\n}"));
  EXPECT_TRUE(mlir::failed(kernel));
  EXPECT_NE(messages_.find("a kernel function must hold a linalg.generic"), std::string::npos) << messages_;
}

} // namespace
} // namespace tenon::compiler::codegen
