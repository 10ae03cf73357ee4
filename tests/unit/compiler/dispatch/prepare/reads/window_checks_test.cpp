// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/reads/window_checks.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

namespace tenon::compiler::dispatch {
namespace {

class WindowChecks : public KernelTextTest {
protected:
  /// Assertions in front of y[i] = x[map(i)], of tensors with such sizes.
  size_t checksOf(const std::string &map, const std::string &image, const std::string &result) {
    const std::string x = "tensor<" + image + "xf32>", y = "tensor<" + result + "xf32>";
    auto function = parseFunction("func.func @f(%x: " + x + ", %y: " + y + ") -> " + y +
                                  " {\n%0 = linalg.generic {indexing_maps = [affine_map<(i) -> (" + map +
                                  ")>, affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]} ins(%x : " + x +
                                  ") outs(%y : " + y + ") {\n^bb0(%a: f32, %b: f32):\nlinalg.yield %a : f32\n} -> " +
                                  y + "\nreturn %0 : " + y + "\n}");
    checkWindows(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_)));
    return llvm::range_size(function.getOps<mlir::cf::AssertOp>());
  }
};

TEST_F(WindowChecks, WhereASizeIsNotKnownACallIsAsked) {
  EXPECT_EQ(checksOf("i + 2", "?", "?"), 1u);
  EXPECT_EQ(checksOf("i * 3", "?", "4"), 1u);
  EXPECT_EQ(checksOf("i * 3", "20", "?"), 1u);
}

TEST_F(WindowChecks, WhatIsKnownIsNotAsked) {
  EXPECT_EQ(checksOf("i + 2", "6", "4"), 0u) << "the verifier has compared them";
  EXPECT_EQ(checksOf("i", "?", "?"), 0u) << "sizes of one loop are compared by the dispatch";
}

TEST_F(WindowChecks, WhatDoesNotGrowIsLeftAlone) {
  EXPECT_EQ(checksOf("i mod 4", "?", "?"), 0u);
  EXPECT_EQ(checksOf("-i + 3", "?", "4"), 0u);
}

} // namespace
} // namespace tenon::compiler::dispatch
