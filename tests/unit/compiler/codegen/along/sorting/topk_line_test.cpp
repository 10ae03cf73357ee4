// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/topk_line.h"

#include "tests/unit/compiler/codegen/along/plans.h"

namespace tenon::compiler::codegen {
namespace {

using TopkLineTest = AlongTest;

/// Names of elements come from a tensor where there is one, else they are places: which a line of short ones knows in
/// 32 bits, and widens.
TEST_F(TopkLineTest, NamesAreGivenOrPlaces) {
  auto loads = [&](const std::string &length) {
    const std::string tensor = "tensor<1024x" + length + "xf32>", names = "tensor<1024x" + length + "xi64>";
    const std::string body =
        ") {\n^bb0(%a: f32, %b: f32):\n%s = arith.cmpf ogt, %a, %b : f32\niree_linalg_ext.yield %s : i1\n}";
    const std::vector<std::string> results = {"tensor<1024x5xf32>", "tensor<1024x5xi64>"};
    AlongPlans places = plansOf(
        {tensor, results[0], results[1]},
        "topk dimension(1) ins(%x : " + tensor + ") outs(%y, %z : " + results[0] + ", " + results[1] + body, results);
    const unsigned without = count(emit(places.kernels.front()), "llvm.load");
    AlongPlans given = plansOf({tensor, names, results[0], results[1]},
                               "topk dimension(1) ins(%x, %y : " + tensor + ", " + names +
                                   ") outs(%z, %w : " + results[0] + ", " + results[1] + body,
                               results);
    return count(emit(given.kernels.front()), "llvm.load") - without;
  };
  EXPECT_EQ(loads("1000"), 1u);
  EXPECT_EQ(loads("?"), 1u);
}

} // namespace
} // namespace tenon::compiler::codegen
