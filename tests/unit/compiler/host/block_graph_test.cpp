// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/block_graph.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::host {
namespace {

class BlockGraphTest : public KernelTextTest {
protected:
  static std::string typesOf(const HostBlock &block) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::interleaveComma(block.parameters, stream, [&](mlir::Value value) { stream << value.getType(); });
    return text;
  }
};

TEST_F(BlockGraphTest, AFunctionInOnePieceNeedsNone) {
  EXPECT_FALSE(needsBlocks(parseFunction("func.func @f(%a: i32) -> i32 { return %a : i32 }")));
  EXPECT_TRUE(needsBlocks(parseFunction("func.func @f(%a: i32) -> i32 {\n cf.br ^bb1\n^bb1:\n return %a : i32\n}")));
  EXPECT_TRUE(needsBlocks(parseFunction(R"mlir(
    func.func @f(%a: tensor<f32>) -> f32 {
      %0 = tensor.extract %a[] : tensor<f32>
      return %0 : f32
    })mlir")));
}

TEST_F(BlockGraphTest, ValuesArePassedThroughEveryBlock) {
  auto function = parseFunction(R"mlir(
    func.func @f(%a: i32, %b: i64, %x: tensor<4xf32>) -> (i64, tensor<4xf32>) {
      %c = arith.cmpi eq, %a, %a : i32
      cf.cond_br %c, ^bb1, ^bb2(%b : i64)
    ^bb1:
      cf.br ^bb2(%b : i64)
    ^bb2(%r: i64):
      return %r, %x : i64, tensor<4xf32>
    })mlir");
  const auto blocks = formBlocks(function);
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(typesOf(blocks[0]), "i32, i64, tensor<4xf32>");
  EXPECT_EQ(typesOf(blocks[1]), "i64, tensor<4xf32>") << "in the order of the function";
  EXPECT_EQ(typesOf(blocks[2]), "i64, tensor<4xf32>") << "its own argument first";
}

TEST_F(BlockGraphTest, WhatCostsNothingIsMadeAgain) {
  auto function = parseFunction(R"mlir(
    func.func @f(%n: index) -> (i32, tensor<?x4xf32>) {
      %c = arith.constant 7 : i32
      %two = arith.constant 2 : index
      %e = tensor.empty(%two) : tensor<?x4xf32>
      cf.br ^bb1
    ^bb1:
      return %c, %e : i32, tensor<?x4xf32>
    })mlir");
  const auto blocks = formBlocks(function);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(typesOf(blocks[1]), "");
  EXPECT_EQ(blocks[0].block->getOperations().size(), 1u) << "the branch";
  EXPECT_EQ(blocks[1].block->getOperations().size(), 4u) << "two constants, the tensor, the return";
}

TEST_F(BlockGraphTest, ABlockEndsWhereAReadValueIsComputedWith) {
  auto function = parseFunction(R"mlir(
    func.func @f(%x: tensor<4xindex>, %i: index) -> (index, index, index) {
      %0 = tensor.extract %x[%i] : tensor<4xindex>
      %1 = tensor.extract %x[%0] : tensor<4xindex>
      %2 = tensor.extract %x[%i] : tensor<4xindex>
      %3 = arith.addi %1, %2 : index
      return %0, %2, %3 : index, index, index
    })mlir");
  const auto blocks = formBlocks(function);
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(typesOf(blocks[1]), "tensor<4xindex>, index, index");
  EXPECT_EQ(typesOf(blocks[2]), "index, index, index");
}

TEST_F(BlockGraphTest, OnlyHandingOnIsNoComputation) {
  auto function = parseFunction(R"mlir(
    func.func @f(%x: tensor<4xi1>, %i: index) -> i1 {
      %0 = tensor.extract %x[%i] : tensor<4xi1>
      cf.br ^bb1(%0 : i1)
    ^bb1(%a: i1):
      %1 = tensor.extract %x[%i] : tensor<4xi1>
      cf.cond_br %1, ^bb2, ^bb2
    ^bb2:
      return %a : i1
    })mlir");
  EXPECT_EQ(formBlocks(function).size(), 4u) << "a condition is decided by what it reads";
}

TEST_F(BlockGraphTest, GlobalsAreLoadedOnceAndStoredLast) {
  auto function = parseFunction(R"mlir(
    func.func @f(%a: i32) -> (i32, i32, i32) {
      %0 = util.global.load @g : i32
      %1 = util.global.load @g : i32
      util.global.store %a, @g : i32
      %2 = util.global.load @g : i32
      util.global.store %1, @g : i32
      return %0, %1, %2 : i32, i32, i32
    })mlir");
  auto blocks = formBlocks(function);
  ASSERT_EQ(blocks.size(), 1u);
  ASSERT_EQ(blocks[0].loads.size(), 1u);
  ASSERT_EQ(blocks[0].stores.size(), 1u);
  EXPECT_EQ(blocks[0].stores[0].getValue(), blocks[0].loads[0].getResult());
  auto returned = mlir::cast<mlir::func::ReturnOp>(blocks[0].block->getTerminator());
  EXPECT_EQ(returned.getOperand(0), blocks[0].loads[0].getResult());
  EXPECT_EQ(returned.getOperand(1), blocks[0].loads[0].getResult());
  EXPECT_EQ(returned.getOperand(2), function.getArgument(0));
}

} // namespace
} // namespace tenon::compiler::host
