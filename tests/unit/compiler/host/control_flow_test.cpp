// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/control_flow.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::host {
namespace {

class ControlFlowTest : public KernelTextTest {};

// Only when ^no0 is gone is ^on1's condition known, and so on: more rounds than MLIR's rewriter has by default.
TEST_F(ControlFlowTest, ConditionsThatBecomeKnownOneAfterTheOtherAreAllTaken) {
  constexpr int kLevels = 30;
  std::string text =
      "func.func @f() -> i1 {\n%t = arith.constant true\n%f = arith.constant false\ncf.br ^on0(%t : i1)\n";
  for (int i = 0; i < kLevels; ++i) {
    const std::string here = std::to_string(i), next = std::to_string(i + 1);
    text += "^on" + here + "(%c" + here + ": i1):\ncf.cond_br %c" + here + ", ^on" + next + "(%t : i1), ^no" + here +
            "\n^no" + here + ":\ncf.br ^on" + next + "(%f : i1)\n";
  }
  text += "^on" + std::to_string(kLevels) + "(%r: i1):\nreturn %r : i1\n}";
  auto function = parseFunction(text);
  simplifyBranches(function);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_)));
  EXPECT_TRUE(function.getBody().hasOneBlock());
}

// ^use stands in front of the block that computes what it reads, which goes elsewhere, too.
TEST_F(ControlFlowTest, BlocksStandBehindThoseThatRunBeforeThem) {
  auto function = parseFunction(R"(func.func @f(%c: i1, %x: i32) -> i32 {
    cf.cond_br %c, ^make, ^end(%x : i32)
  ^use:
    %1 = arith.muli %0, %x : i32
    cf.br ^end(%1 : i32)
  ^make:
    %0 = arith.addi %x, %x : i32
    cf.cond_br %c, ^use, ^end(%0 : i32)
  ^end(%r: i32):
    return %r : i32
  })");
  orderBlocks(function);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_)));
  auto add = *function.getOps<mlir::arith::AddIOp>().begin();
  auto multiply = *function.getOps<mlir::arith::MulIOp>().begin();
  EXPECT_EQ(add->getBlock(), function.front().getNextNode());
  EXPECT_EQ(multiply->getBlock(), add->getBlock()->getNextNode());
}

// Behind simplifyBranches() there is one, perhaps.
TEST_F(ControlFlowTest, OneBlockIsInOrder) {
  auto function = parseFunction("func.func @f(%x: i32) -> i32 {\nreturn %x : i32\n}");
  orderBlocks(function);
  EXPECT_TRUE(function.getBody().hasOneBlock());
}

// Where they are in some order already, they stay in it.
TEST_F(ControlFlowTest, BlocksThatAreInOrderStay) {
  auto function = parseFunction(R"(func.func @f(%c: i1, %x: i32) -> i32 {
    cf.cond_br %c, ^one, ^other
  ^other:
    cf.br ^end(%x : i32)
  ^one:
    %0 = arith.addi %x, %x : i32
    cf.br ^end(%0 : i32)
  ^end(%r: i32):
    return %r : i32
  })");
  mlir::Block *second = function.front().getNextNode();
  orderBlocks(function);
  EXPECT_EQ(function.front().getNextNode(), second);
}

} // namespace
} // namespace tenon::compiler::host
