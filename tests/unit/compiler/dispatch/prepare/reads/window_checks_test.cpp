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
    EXPECT_TRUE(succeeded(checkWindows(function))) << messages_;
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

// MLIR compares nothing where one size is unknown.
TEST_F(WindowChecks, KnownSizesAreComparedBesideUnknownOnes) {
  auto check = [&](const std::string &image, const std::string &filters) {
    messages_.clear();
    auto function =
        parseFunction("func.func @f(%x: tensor<" + image + "xf32>, %w: tensor<" + filters +
                      "xf32>, %o: tensor<?x2x8xf32>) -> tensor<?x2x8xf32> {\n"
                      R"(%r = linalg.generic {indexing_maps = [affine_map<(n, x, f, c, i) -> (n, x * 4 + i, c)>,
          affine_map<(n, x, f, c, i) -> (f, c, i)>, affine_map<(n, x, f, c, i) -> (n, x, f)>],
          iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
          ins(%x, %w : tensor<)" +
                      image + "xf32>, tensor<" + filters + R"(xf32>) outs(%o : tensor<?x2x8xf32>) {
        ^bb0(%a: f32, %b: f32, %s: f32):
          %m = arith.mulf %a, %b : f32
          %t = arith.addf %s, %m : f32
          linalg.yield %t : f32
      } -> tensor<?x2x8xf32>
      return %r : tensor<?x2x8xf32>
    })");
    return succeeded(checkWindows(function));
  };
  EXPECT_TRUE(check("?x8x3", "8x3x4"));
  EXPECT_TRUE(check("?x9x3", "8x3x4")) << "columns that no window reads";
  EXPECT_FALSE(check("?x7x3", "8x3x4"));
  EXPECT_NE(messages_.find("8 elements along dimension 1 of operand 0, which has 7"), std::string::npos) << messages_;
  EXPECT_FALSE(check("?x8x5", "8x3x4")) << "five channels, and filters of three";
}

} // namespace
} // namespace tenon::compiler::dispatch
