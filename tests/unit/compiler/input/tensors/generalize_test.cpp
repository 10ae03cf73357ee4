// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/input/tensors/generalize.h"

#include "compiler/dialect/Dialects.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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

TEST_F(GeneralizeTest, WhatFoldsToAConstantIsGenericWhereTheSizesAreUnknown) {
  auto module = parseSourceString<ModuleOp>(R"mlir(
    func.func @f(%x: tensor<?xi8>, %k: tensor<4xi8>) -> (tensor<?xi8>, tensor<?xi1>, tensor<4xi8>, tensor<?xi8>) {
      %0 = arith.xori %x, %x : tensor<?xi8>
      %1 = arith.cmpi slt, %x, %x : tensor<?xi8>
      %2 = arith.xori %k, %k : tensor<4xi8>
      %3 = arith.addi %x, %x : tensor<?xi8>
      return %0, %1, %2, %3 : tensor<?xi8>, tensor<?xi1>, tensor<4xi8>, tensor<?xi8>
    })mlir",
                                            &context_);
  generalizeFolded(*module->getOps<func::FuncOp>().begin());
  EXPECT_EQ(count<linalg::GenericOp>(*module), 2u);
  EXPECT_EQ(count<arith::ConstantOp>(*module), 1u); // the dimension's number
  EXPECT_EQ(count<arith::XOrIOp>(*module), 2u);     // one in a body
}

} // namespace
} // namespace tenon::compiler::input
