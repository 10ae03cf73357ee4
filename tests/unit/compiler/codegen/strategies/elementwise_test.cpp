// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/elementwise.h"

#include "tests/unit/compiler/codegen/kernels.h"

#include "llvm/ADT/STLExtras.h"

namespace tenon::compiler::codegen {
namespace {

class ElementwisePlan : public KernelTest {
protected:
  /// Elements of a vector, of a copy whose rows are so long and lie apart, so that they are no one row.
  int64_t width(const std::string &element, int64_t row) {
    const std::string from = "tensor<7x64x" + std::to_string(row) + "x" + element + ">",
                      to = "tensor<64x7x" + std::to_string(row) + "x" + element + ">";
    const mlir::FailureOr<KernelFunction> kernel = KernelFunction::read(parseFunction(
        "func.func @k(%x: " + from + ", %o: " + to + ") -> " + to +
        " {\n%v = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (j, i, k)>, affine_map<(i, j, k) -> (i, j, "
        "k)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\"]} ins(%x : " +
        from + ") outs(%o : " + to + ") {\n^bb0(%a: " + element + ", %b: " + element + "):\n%n = arith.negf %a : " +
        element + "\nlinalg.yield %n : " + element + "\n} -> " + to + "\nreturn %v : " + to + "\n}"));
    EXPECT_TRUE(mlir::succeeded(kernel)) << messages_;
    const std::optional<Plan> plan = Elementwise().plan(*kernel, GroupShape::of(*kernel));
    EXPECT_TRUE(plan);
    auto *choice = llvm::find_if(plan->choices, [](const auto &each) { return each.first == "width"; });
    EXPECT_NE(choice, plan->choices.end());
    return choice->second;
  }
};

TEST_F(ElementwisePlan, RowsOfWholeVectorsTakeThem) {
  EXPECT_EQ(width("bf16", 64), 8);
  EXPECT_EQ(width("bf16", 8), 8);
}

TEST_F(ElementwisePlan, RowsShorterThanTwoVectorsTakeNarrowerOnes) {
  EXPECT_EQ(width("bf16", 2), 2);
  EXPECT_EQ(width("bf16", 4), 4);
  EXPECT_EQ(width("bf16", 6), 2);
  EXPECT_EQ(width("bf16", 14), 4); // three, and two elements
  EXPECT_EQ(width("bf16", 12), 4);
  EXPECT_EQ(width("bf16", 13), 1) << "most vectors of two would lie in one row, and every thirteenth in two";
}

TEST_F(ElementwisePlan, OfLongerRowsVectorsThatLieInTwoAreTheException) {
  EXPECT_EQ(width("bf16", 4098), 8);
  EXPECT_EQ(width("f32", 4098), 2); // half of one is wide enough
}

} // namespace
} // namespace tenon::compiler::codegen
