// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/forming/recompute.h"

#include "compiler/dispatch/forming/form_groups.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class Recompute : public KernelTextTest {
protected:
  /// e = OPERATION of x [300, 40] of `type`, its sums down columns, and e less them: two kernels. The operations left.
  llvm::SmallVector<mlir::linalg::GenericOp> centred(const std::string &type, const std::string &operation,
                                                     const std::string &more = "") {
    const std::string x = "tensor<300x40x" + type + ">", all = "affine_map<(i, j) -> (i, j)>",
                      column = "affine_map<(i, j) -> (j)>", f32 = "tensor<300x40xf32>", sums = "tensor<40xf32>";
    auto function = parseFunction(
        "func.func @f(%x: " + x + ", %y: " + f32 + ", %o: " + f32 + ", %s: " + sums + ") -> " + f32 +
        " {\n%e = linalg.generic {indexing_maps = [" + all + ", " + (more.empty() ? "" : all + ", ") + all +
        "], iterator_types = [\"parallel\", \"parallel\"]} ins(%x" +
        (more.empty() ? " : " + x : ", %y : " + x + ", " + f32) + ") outs(%o : " + f32 + ") {\n^bb0(%v: " + type +
        (more.empty() ? "" : ", %z: f32") + ", %u: f32):\n" + operation + "\nlinalg.yield %w : f32\n} -> " + f32 +
        "\n%t = linalg.generic {indexing_maps = [" + all + ", " + column +
        "], iterator_types = [\"reduction\", \"parallel\"]} ins(%e : " + f32 + ") outs(%s : " + sums +
        ") {\n^bb0(%v: f32, %u: f32):\n%w = arith.addf %u, %v : f32\nlinalg.yield %w : f32\n} -> " + sums +
        "\n%q = linalg.generic {indexing_maps = [" + all + ", " + column + ", " + all +
        "], iterator_types = [\"parallel\", \"parallel\"]} ins(%e, %t : " + f32 + ", " + sums + ") outs(%o : " + f32 +
        ") {\n^bb0(%v: f32, %m: f32, %u: f32):\n%w = arith.subf %v, %m : f32\nlinalg.yield %w : f32\n} -> " + f32 +
        "\nreturn %q : " + f32 + "\n}");
    recomputeAtBoundaries(function.front());
    EXPECT_TRUE(mlir::succeeded(module_->verify())) << messages_;
    return llvm::to_vector(function.getOps<mlir::linalg::GenericOp>());
  }
};

TEST_F(Recompute, WhatIsMadeOfOneTensorIsNotStoredForAnotherKernel) {
  auto ops = centred("f32", "%w = math.tanh %v : f32");
  ASSERT_EQ(ops.size(), 4u);
  EXPECT_NE(ops[3].getDpsInputs()[0], ops[0]->getResult(0));
  EXPECT_EQ(ops[3].getDpsInputs()[0], ops[2]->getResult(0));
  const GroupedBlock grouped = formGroups(*ops[0]->getBlock());
  ASSERT_EQ(grouped.groups.size(), 2u);
  EXPECT_FALSE(isReadOutside(ops[0]->getResult(0), grouped.groups[0]));
  EXPECT_EQ(centred("bf16", "%w = arith.extf %v : bf16 to f32").size(), 4u);
}

TEST_F(Recompute, WhatReadsMoreOrTakesLongIsStored) {
  EXPECT_EQ(centred("f32", "%w = arith.addf %v, %z : f32", "y").size(), 3u);
  std::string longer = "%v0 = math.exp %v : f32\n";
  for (int i = 0; i < 4; ++i)
    longer += "%v" + std::to_string(i + 1) + " = math.exp %v" + std::to_string(i) + " : f32\n";
  EXPECT_EQ(centred("f32", longer + "%w = math.exp %v4 : f32").size(), 3u);
}

} // namespace
} // namespace tenon::compiler::dispatch
