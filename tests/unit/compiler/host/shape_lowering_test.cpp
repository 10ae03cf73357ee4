// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each function here only names its argument anew: no command and no buffer but the argument's comes of it.
#include "compiler/host/shape_lowering.h"

#include "compiler/host/function_lowering.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::host {
namespace {

class ShapeLoweringTest : public KernelTextTest {
protected:
  mlir::FailureOr<Function> lower(const std::string &text) {
    const ExecutableTable executables;
    return lowerFunction(parseFunction(text), {executables, {}}, constants_);
  }
  /// Sizes of the only result; -1: not known to the compiler.
  static std::vector<int64_t> sizes(const Function &function) {
    std::vector<int64_t> out;
    for (Register size : function.results[0].shape)
      out.push_back(function.registers.constantValue(size).value_or(-1));
    return out;
  }
  ConstantPool constants_;
};

TEST_F(ShapeLoweringTest, ReshapesKeepTheArgumentsBytes) {
  auto function = lower(R"mlir(func.func @f(%a: tensor<4x6xf32>) -> tensor<3x8xf32> {
  %flat = tensor.collapse_shape %a [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %made = tensor.expand_shape %flat [[0, 1]] output_shape [3, 8] : tensor<24xf32> into tensor<3x8xf32>
  return %made : tensor<3x8xf32>
})mlir");
  ASSERT_TRUE(mlir::succeeded(function)) << messages_;
  EXPECT_TRUE(function->commands.empty());
  EXPECT_TRUE(function->checks.empty());
  EXPECT_EQ(function->buffers.size(), 1u);
  EXPECT_EQ(sizes(*function), (std::vector<int64_t>{3, 8}));
}

TEST_F(ShapeLoweringTest, WhatAnUnknownShapePromisesIsCheckedByTheCall) {
  auto function = lower(R"mlir(func.func @f(%a: tensor<?xf32>, %n: index) -> tensor<?x8xf32> {
  %made = tensor.expand_shape %a [[0, 1]] output_shape [%n, 8] : tensor<?xf32> into tensor<?x8xf32>
  return %made : tensor<?x8xf32>
})mlir");
  ASSERT_TRUE(mlir::succeeded(function)) << messages_;
  EXPECT_EQ(sizes(*function), (std::vector<int64_t>{-1, 8}));
  ASSERT_EQ(function->checks.size(), 2u); // a size below zero, and one that the argument has not
  EXPECT_NE(function->checks[0].message.find("negative"), std::string::npos) << function->checks[0].message;
  EXPECT_NE(function->checks[1].message.find("dimension 0 of argument 0 is not the product"), std::string::npos)
      << function->checks[1].message;
}

TEST_F(ShapeLoweringTest, ACastToAKnownSizeIsChecked) {
  auto function = lower(R"mlir(func.func @f(%a: tensor<?x3xf32>) -> tensor<7x3xf32> {
  %made = tensor.cast %a : tensor<?x3xf32> to tensor<7x3xf32>
  return %made : tensor<7x3xf32>
})mlir");
  ASSERT_TRUE(mlir::succeeded(function)) << messages_;
  EXPECT_EQ(sizes(*function), (std::vector<int64_t>{7, 3}));
  EXPECT_EQ(function->checks.size(), 1u);
}

TEST_F(ShapeLoweringTest, ABitcastHasTheBytesOfItsOperand) {
  auto function = lower(R"mlir(func.func @f(%a: tensor<?xi8>, %n: index) -> tensor<?xf32> {
  %made = flow.tensor.bitcast %a : tensor<?xi8>{%n} -> tensor<?xf32>{%n}
  return %made : tensor<?xf32>
})mlir");
  ASSERT_TRUE(mlir::succeeded(function)) << messages_;
  std::string checks;
  for (const Check &check : function->checks)
    checks += check.message + "\n";
  EXPECT_NE(checks.find("is not the size in bytes of its result"), std::string::npos) << checks;
}

TEST_F(ShapeLoweringTest, ADimensionThatIsNotThereIsAnError) {
  EXPECT_TRUE(mlir::failed(lower(R"mlir(func.func @f(%a: tensor<?xf32>) -> index {
  %one = arith.constant 5 : index
  %made = tensor.dim %a, %one : tensor<?xf32>
  return %made : index
})mlir")));
  EXPECT_NE(messages_.find("dimension 5 of a tensor of rank 1"), std::string::npos) << messages_;
}

} // namespace
} // namespace tenon::compiler::host
