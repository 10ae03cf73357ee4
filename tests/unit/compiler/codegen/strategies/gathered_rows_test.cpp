// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/gathered_rows.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class GatheredRowsPlan : public KernelTest {
protected:
  /// Of rows of an image [64, `width`], 3 elements of each of its lines, beside each other.
  std::optional<Plan> planOf(const std::string &places, const std::string &row, const std::string &apart) {
    const std::string result = "tensor<" + places + "x" + row + "xbf16>";
    const mlir::FailureOr<KernelFunction> kernel = KernelFunction::read(parseFunction(
        "func.func @k(%x: tensor<64x70000xbf16>, %o: " + result + ") -> " + result +
        " {\n%three = arith.constant 3 : index\n%v = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>], "
        "iterator_types = [\"parallel\", \"parallel\"]} outs(%o : " +
        result + ") {\n^bb0(%b: bf16):\n%i = linalg.index 0 : index\n%k = linalg.index 1 : index\n" + apart +
        "%s = arith.addi %i, %q : index\n%e = tensor.extract %x[%p, %s] : tensor<64x70000xbf16>\nlinalg.yield %e : "
        "bf16\n} -> " +
        result + "\nreturn %v : " + result + "\n}"));
    EXPECT_TRUE(mlir::succeeded(kernel)) << messages_;
    return GatheredRows().plan(*kernel, GroupShape::of(*kernel));
  }
};

const char kApart[] = "%p = arith.divui %k, %three : index\n%q = arith.remui %k, %three : index\n";

TEST_F(GatheredRowsPlan, AThreadTakesARow) {
  const std::optional<Plan> plan = planOf("65536", "32", kApart);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->choice("width"), 8);
  EXPECT_EQ(plan->grid.size(), 1u);
  EXPECT_EQ(plan->grid.front().perBlock, 256);
  EXPECT_TRUE(planOf("65536", "64", kApart));
}

TEST_F(GatheredRowsPlan, LongAndFewAndRaggedRowsAreLeftToOthers) {
  EXPECT_FALSE(planOf("65536", "128", kApart)); // more than a line
  EXPECT_FALSE(planOf("64", "32", kApart));
  EXPECT_FALSE(planOf("65536", "27", kApart));
}

TEST_F(GatheredRowsPlan, WhatIsNotTakenApartIsLeftToOthers) {
  EXPECT_FALSE(planOf("65536", "32", "%p = arith.addi %k, %three : index\n%q = arith.addi %k, %k : index\n"));
  // By the place in front of it, which is not known when the kernel is compiled.
  EXPECT_FALSE(planOf("65536", "32", "%p = arith.divui %i, %three : index\n%q = arith.remui %i, %three : index\n"));
}

} // namespace
} // namespace tenon::compiler::codegen
