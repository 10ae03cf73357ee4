#include "compiler/codegen/kernel_function.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

using KernelFunctionTest = KernelTest;

TEST_F(KernelFunctionTest, ReadsArgumentsSizesAndLoops) {
  auto kernel = KernelFunction::read(parseFunction(kernelText("f32", "arith.negf")));
  ASSERT_TRUE(mlir::succeeded(kernel)) << messages_;
  EXPECT_EQ(kernel->elementsPerThread, 4u);
  ASSERT_EQ(kernel->scalarArguments.size(), 1u);
  EXPECT_EQ(kernel->scalarArguments[0], 0u);
  ASSERT_EQ(kernel->tensorArguments.size(), 1u);
  EXPECT_EQ(kernel->tensorArguments[0], 1u);
  ASSERT_EQ(kernel->loops.size(), 1u);
  EXPECT_EQ(kernel->loops[0].argument, 0);
  ASSERT_EQ(kernel->outputs.size(), 1u);
  EXPECT_EQ(kernel->outputs[0].tensor.binding, 1u);
  EXPECT_FALSE(kernel->outputs[0].startTensor.has_value());
  EXPECT_FALSE(kernel->outputs[0].startScalar);
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
  EXPECT_EQ(kernel->outputs[0].startScalar, function.getArgument(1));
  EXPECT_EQ(kernel->loops[1].size, 8);
  EXPECT_EQ(kernel->loops[1].argument, -1);
}

TEST_F(KernelFunctionTest, RefusesAFunctionWithoutAKernel) {
  auto kernel = KernelFunction::read(parseFunction("func.func @k(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                                                   "return %a : tensor<4xf32>\n}"));
  EXPECT_TRUE(mlir::failed(kernel));
  EXPECT_NE(messages_.find("a kernel function must hold one linalg.generic"), std::string::npos) << messages_;
}

} // namespace
} // namespace tenon::compiler::codegen
