// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/radix_line.h"

#include "tests/unit/compiler/codegen/along/plans.h"

namespace tenon::compiler::codegen {
namespace {

using RadixLineTest = AlongTest;

/// All digits in one loop: each thread votes once on every bit of each of its items.
TEST_F(RadixLineTest, DigitsAreALoop) {
  for (const char *type : {"f32", "f64"}) {
    const std::string name = type, tensor = "tensor<8x1000x" + name + ">";
    AlongPlans plans = plansOf({tensor},
                               "sort dimension(1) outs(%x : " + tensor + ") {\n^bb0(%a: " + name + ", %b: " + name +
                                   "):\n%s = arith.cmpf olt, %a, %b : " + name + "\niree_linalg_ext.yield %s : i1\n}",
                               {tensor});
    ASSERT_EQ(plans.kernels.size(), 1u);
    EXPECT_EQ(count(emit(plans.kernels.front()), "nvvm.vote.sync"), 8 * choice(plans.kernels.front(), "items"));
  }
}

} // namespace
} // namespace tenon::compiler::codegen
