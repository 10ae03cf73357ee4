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

} // namespace
} // namespace tenon::compiler::host
