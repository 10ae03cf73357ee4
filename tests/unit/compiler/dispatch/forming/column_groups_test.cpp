// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/forming/column_groups.h"

#include "compiler/dispatch/forming/form_groups.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class ColumnGroups : public KernelTextTest {
protected:
  /// Groups of what is less than the largest of its row, of columns that a tensor has `byMap`.
  GroupedBlock groups(const std::string &shape, const std::string &largest, const std::string &byMap) {
    const std::string tensor = "tensor<" + shape + "xf32>", of = "tensor<" + largest + "xf32>";
    auto function = parseFunction(
        "func.func @f(%x: " + tensor + ", %o: " + of + ", %e: " + tensor + ") -> " + tensor +
        " {\n%m = linalg.generic {indexing_maps = [affine_map<(i, j) -> " + byMap +
        ">, affine_map<(i, j) -> (i)>], iterator_types = [\"parallel\", \"reduction\"]} ins(%x : " + tensor +
        ") outs(%o : " + of +
        ") {\n^bb0(%a: f32, %s: f32):\n%t = arith.maximumf %s, %a : f32\nlinalg.yield %t : f32\n"
        "} -> " +
        of + "\n%y = linalg.generic {indexing_maps = [affine_map<(i, j) -> " + byMap +
        ">, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> " + byMap +
        ">], iterator_types = [\"parallel\", \"parallel\"]} ins(%x, %m : " + tensor + ", " + of + ") outs(%e : " +
        tensor + ") {\n^bb0(%a: f32, %s: f32, %b: f32):\n%t = arith.subf %a, %s : f32\nlinalg.yield %t : f32\n} -> " +
        tensor + "\nreturn %y : " + tensor + "\n}");
    return formGroups(function.front());
  }
};

TEST_F(ColumnGroups, RowsAreOneKernelOfAnyLength) {
  const GroupedBlock found = groups("?x?", "?", "(i, j)");
  ASSERT_EQ(found.groups.size(), 1u);
  EXPECT_FALSE(runsAcrossRows(found.groups[0]));
}

TEST_F(ColumnGroups, ColumnsAreOneKernelWhereTheyAreShort) {
  EXPECT_EQ(groups("256x?", "?", "(j, i)").groups.size(), 1u);
  EXPECT_EQ(groups("257x?", "?", "(j, i)").groups.size(), 2u);
  EXPECT_EQ(groups("?x?", "?", "(j, i)").groups.size(), 2u);
}

TEST_F(ColumnGroups, TheyRunAcrossRows) {
  EXPECT_TRUE(runsAcrossRows(groups("256x?", "?", "(j, i)").groups[0]));
  EXPECT_TRUE(runsAcrossRows(groups("?x?", "?", "(j, i)").groups[0]));
}

} // namespace
} // namespace tenon::compiler::dispatch
