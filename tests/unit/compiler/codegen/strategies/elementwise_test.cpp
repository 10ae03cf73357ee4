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

/// Rows of a table: those that `index` names, or every other one.
std::string rowsOfTable(const std::string &count, const std::string &row, bool areNamed) {
  const std::string to = "tensor<" + count + "x" + row + "xf32>", index = "tensor<" + count + "xi64>",
                    table = "tensor<900x" + row + "xf32>";
  return "func.func @k(%i: " + index + ", %t: " + table + ", %o: " + to + ") -> " + to +
         " {\n%v = linalg.generic {indexing_maps = [affine_map<(n, c) -> (n)>, affine_map<(n, c) -> (n, c)>], "
         "iterator_types = [\"parallel\", \"parallel\"]} ins(%i : " +
         index + ") outs(%o : " + to + ") {\n^bb0(%a: i64, %b: f32):\n" +
         (areNamed
              ? "%n = arith.index_cast %a : i64 to index\n"
              : "%l = linalg.index 0 : index\n%two = arith.constant 2 : index\n%n = arith.muli %l, %two : index\n") +
         "%c = linalg.index 1 : index\n%e = tensor.extract %t[%n, %c] : " + table + "\nlinalg.yield %e : f32\n} -> " +
         to + "\nreturn %v : " + to + "\n}";
}

TEST_F(ElementwisePlan, ThreadsThatWaitForPlacesHaveTwoVectors) {
  auto vectors = [&](const std::string &count, const std::string &row, bool areNamed) {
    const mlir::FailureOr<KernelFunction> kernel =
        KernelFunction::read(parseFunction(rowsOfTable(count, row, areNamed)));
    EXPECT_TRUE(mlir::succeeded(kernel)) << messages_;
    const std::optional<Plan> plan = Elementwise().plan(*kernel, GroupShape::of(*kernel));
    EXPECT_TRUE(plan);
    auto *choice = llvm::find_if(plan->choices, [](const auto &each) { return each.first == "apart"; });
    const int64_t found = choice == plan->choices.end() ? 1 : choice->second;
    EXPECT_EQ(plan->grid.front().perBlock, int64_t(plan->threads) * plan->choice("width") * found);
    return found;
  };
  EXPECT_EQ(vectors("100000", "1024", true), 2);
  EXPECT_EQ(vectors("100000", "1024", false), 1) << "the place is known";
  EXPECT_EQ(vectors("100", "1024", true), 1) << "too few blocks";
  EXPECT_EQ(vectors("100000", "1023", true), 1) << "rows are no whole vectors";
}

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
