// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/input/tensors/generalize.h"

#include "compiler/dialect/Dialects.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <gtest/gtest.h>

namespace tenon::compiler::input {
namespace {

using namespace mlir;

class GeneralizeTest : public testing::Test {
protected:
  GeneralizeTest() {
    DialectRegistry registry;
    registerDialects(registry);
    context_.appendDialectRegistry(registry);
    context_.loadAllAvailableDialects();
  }

  /// A splat that a product starts from, rewritten.
  OwningOpRef<ModuleOp> rewritten(bool keepsFill) {
    auto module = parseSourceString<ModuleOp>(R"mlir(
      func.func @f(%x: f32, %a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
        %s = tensor.splat %x : tensor<2x4xf32>
        %r = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%s : tensor<2x4xf32>) -> tensor<2x4xf32>
        return %r : tensor<2x4xf32>
      })mlir",
                                              &context_);
    RewritePatternSet patterns(&context_);
    addSplatPatterns(patterns);
    addNamedPatterns(patterns, keepsFill);
    EXPECT_TRUE(succeeded(applyPatternsGreedily(*module, std::move(patterns))));
    return module;
  }
  template <typename Op> static unsigned count(ModuleOp module) {
    unsigned found = 0;
    module.walk([&](Op) { ++found; });
    return found;
  }

  MLIRContext context_;
};

TEST_F(GeneralizeTest, ASplatIsAFillAndAProductIsGeneric) {
  auto module = rewritten(/*keepsFill=*/true);
  EXPECT_EQ(count<tensor::SplatOp>(*module), 0u);
  EXPECT_EQ(count<linalg::FillOp>(*module), 1u);
  EXPECT_EQ(count<linalg::MatmulOp>(*module), 0u);
  EXPECT_EQ(count<linalg::GenericOp>(*module), 1u);
}

TEST_F(GeneralizeTest, AFillIsGenericWhereNobodyWantsIt) {
  auto module = rewritten(/*keepsFill=*/false);
  EXPECT_EQ(count<linalg::FillOp>(*module), 0u);
  EXPECT_EQ(count<linalg::GenericOp>(*module), 2u);
}

} // namespace
} // namespace tenon::compiler::input
