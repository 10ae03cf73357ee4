// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/groups/form_group.h"

#include "compiler/dispatch/forming/form_groups.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

// The largest element of each row, then x - max.
const char kRowsThenElements[] = R"mlir(
func.func @f(%x: tensor<4x8xf32>, %start: tensor<4xf32>, %e: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %m = linalg.generic {indexing_maps = [affine_map<(i, j) -> (MAP)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%start : tensor<4xf32>) {
    ^bb0(%a: f32, %s: f32):
      %t = arith.maximumf %a, %s : f32
      linalg.yield %t : f32
  } -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (MAP)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (MAP)>],
      iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%a: f32, %s: f32, %o: f32):
      %t = arith.subf %a, %s : f32
      linalg.yield %t : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
)mlir";

class GroupTest : public KernelTextTest {
protected:
  static std::string replaced(std::string text, const std::string &what, const std::string &with) {
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
      text.replace(at, what.size(), with);
    return text;
  }
  llvm::SmallVector<mlir::linalg::GenericOp> generics(const std::string &text) {
    return llvm::to_vector(parseFunction(text).getOps<mlir::linalg::GenericOp>());
  }
};

TEST_F(GroupTest, ReadersOfOneTensorShareItsAxes) {
  auto ops = generics(replaced(kRowsThenElements, "MAP", "i, j"));
  std::string reason;
  std::optional<Group> group = groupOf(ops, reason);
  ASSERT_TRUE(group.has_value()) << reason;
  EXPECT_EQ(group->numAxes(), 2u); // j of both, though only x says so
  EXPECT_FALSE(group->isReduced[group->axisOf[ops[0]][0]]);
  EXPECT_TRUE(group->isReduced[group->axisOf[ops[0]][1]]);
  EXPECT_TRUE(group->coversAllAxes(ops[1]));
  EXPECT_FALSE(group->isPerRow(ops[1]));
  EXPECT_TRUE(group->isPerRow(ops[0]));
  EXPECT_TRUE(group->knowsReduction(ops[1]->getResult(0)));
  EXPECT_FALSE(isReadOutside(ops[0]->getResult(0), *group));
  EXPECT_TRUE(isReadOutside(ops[1]->getResult(0), *group));
}

/// Roots of vectors that have nothing to do with each other, one of each size.
static std::string rootsOf(llvm::ArrayRef<std::string> sizes) {
  std::string arguments, types, body, results;
  for (auto [number, size] : llvm::enumerate(sizes)) {
    const std::string type = "tensor<" + size + "xf32>", n = std::to_string(number), comma = number ? ", " : "";
    arguments += comma + "%x" + n + ": " + type + ", %e" + n + ": " + type;
    types += comma + type;
    results += comma + "%r" + n;
    body += "%r" + n + " = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], " +
            "iterator_types = [\"parallel\"]} ins(%x" + n + " : " + type + ") outs(%e" + n + " : " + type +
            ") {\n^bb0(%a: f32, %o: f32):\n%t = math.sqrt %a : f32\nlinalg.yield %t : f32\n} -> " + type + "\n";
  }
  return "func.func @f(" + arguments + ") -> (" + types + ") {\n" + body + "return " + results + " : " + types + "\n}";
}

TEST_F(GroupTest, SmallVectorsOfOneSizeRunSideBySide) {
  auto groups = [&](llvm::ArrayRef<std::string> sizes) {
    return formGroups(parseFunction(rootsOf(sizes)).getBody().front()).groups;
  };
  auto alike = groups({"64", "64", "64"});
  ASSERT_EQ(alike.size(), 1u);
  EXPECT_EQ(alike[0].numAxes(), 1u);
  EXPECT_EQ(groups({"64", "32", "64", "32"}).size(), 2u);
  EXPECT_EQ(groups({"?", "?"}).size(), 2u);
  EXPECT_EQ(groups({"100000", "100000"}).size(), 2u) << "each takes longer than its launch";
  EXPECT_EQ(groups(std::vector<std::string>(20, "64")).size(), 2u) << "a kernel has so many tensors";
}

TEST_F(GroupTest, WhatOneNeedsOfAnotherIsNotBesideIt) {
  // The second reads a sum of what the first computes: it is behind that.
  auto function = parseFunction(R"mlir(
    #id = affine_map<(i) -> (i)>
    func.func @f(%x: tensor<64xf32>, %s: tensor<f32>, %e: tensor<64xf32>) -> tensor<64xf32> {
      %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
        ^bb0(%v: f32, %o: f32):
          %t = math.sqrt %v : f32
          linalg.yield %t : f32
      } -> tensor<64xf32>
      %q = tensor.expand_shape %a [[0, 1]] output_shape [8, 8] : tensor<64xf32> into tensor<8x8xf32>
      %p = tensor.empty() : tensor<8x8xf32>
      %u = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
          ins(%q : tensor<8x8xf32>) outs(%p : tensor<8x8xf32>) {
        ^bb0(%v: f32, %o: f32):
          linalg.yield %v : f32
      } -> tensor<8x8xf32>
      %w = tensor.collapse_shape %u [[0, 1]] : tensor<8x8xf32> into tensor<64xf32>
      %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%w : tensor<64xf32>) outs(%e : tensor<64xf32>) {
        ^bb0(%v: f32, %o: f32):
          %t = math.sqrt %v : f32
          linalg.yield %t : f32
      } -> tensor<64xf32>
      return %b : tensor<64xf32>
    })mlir");
  EXPECT_EQ(formGroups(function.getBody().front()).groups.size(), 3u);
}

TEST_F(GroupTest, AGroupThatEndsBehindBothMayStandBetween) {
  // %p and %r are one kernel, which reads %a and gives what %b reads.
  auto function = parseFunction(R"mlir(
    #id = affine_map<(i) -> (i)>
    #all = affine_map<(i, j) -> (i, j)>
    func.func @f(%x: tensor<64xf32>, %w: tensor<8x8xf32>, %e: tensor<64xf32>, %s: tensor<8x8xf32>) -> (tensor<64xf32>, tensor<8x8xf32>) {
      %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
        ^bb0(%v: f32, %o: f32):
          %t = math.sqrt %v : f32
          linalg.yield %t : f32
      } -> tensor<64xf32>
      %q = tensor.expand_shape %a [[0, 1]] output_shape [8, 8] : tensor<64xf32> into tensor<8x8xf32>
      %p = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<8x8xf32>) outs(%s : tensor<8x8xf32>) {
        ^bb0(%v: f32, %o: f32):
          %t = math.exp %v : f32
          linalg.yield %t : f32
      } -> tensor<8x8xf32>
      %c = tensor.collapse_shape %p [[0, 1]] : tensor<8x8xf32> into tensor<64xf32>
      %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%c : tensor<64xf32>) outs(%e : tensor<64xf32>) {
        ^bb0(%v: f32, %o: f32):
          %t = math.sqrt %v : f32
          linalg.yield %t : f32
      } -> tensor<64xf32>
      %r = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%p, %q : tensor<8x8xf32>, tensor<8x8xf32>) outs(%s : tensor<8x8xf32>) {
        ^bb0(%v: f32, %u: f32, %o: f32):
          %t = arith.addf %v, %u : f32
          linalg.yield %t : f32
      } -> tensor<8x8xf32>
      return %b, %r : tensor<64xf32>, tensor<8x8xf32>
    })mlir");
  EXPECT_EQ(formGroups(function.getBody().front()).groups.size(), 3u);
}

TEST_F(GroupTest, WhatReducesOtherAxesIsAnotherGroup) {
  auto chain = generics(R"mlir(
    func.func @f(%x: tensor<4x8xf32>, %a: tensor<4xf32>, %b: tensor<f32>) -> tensor<f32> {
      %m = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
          iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%a : tensor<4xf32>) {
        ^bb0(%v: f32, %s: f32):
          %t = arith.addf %v, %s : f32
          linalg.yield %t : f32
      } -> tensor<4xf32>
      %n = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
          iterator_types = ["reduction"]} ins(%m : tensor<4xf32>) outs(%b : tensor<f32>) {
        ^bb0(%v: f32, %s: f32):
          %t = arith.addf %v, %s : f32
          linalg.yield %t : f32
      } -> tensor<f32>
      return %n : tensor<f32>
    })mlir");
  std::string reason;
  EXPECT_FALSE(groupOf(chain, reason).has_value());
  EXPECT_EQ(reason, "it reduces other dimensions");
}

TEST_F(GroupTest, RowsAreOneKernelLongColumnsThatAreReadAgainTwo) {
  auto groupsOf = [&](const std::string &text) { return formGroups(parseFunction(text).front()); };
  EXPECT_EQ(groupsOf(replaced(kRowsThenElements, "MAP", "i, j")).groups.size(), 1u);
  const std::string columns = replaced(replaced(kRowsThenElements, "MAP", "j, i"), "tensor<4xf32>", "tensor<8xf32>");
  EXPECT_EQ(groupsOf(columns).groups.size(), 1u); // of four elements: a thread keeps them
  EXPECT_EQ(groupsOf(replaced(columns, "4x8", "256x8")).groups.size(), 1u);
  EXPECT_EQ(groupsOf(replaced(columns, "4x8", "257x8")).groups.size(), 2u);
  GroupedBlock grouped = groupsOf(replaced(columns, "4x8", "?x8"));
  EXPECT_EQ(grouped.groups.size(), 2u);
  ASSERT_EQ(grouped.boundaries.size(), 1u);
  EXPECT_NE(grouped.boundaries[0].reason.find("not adjacent in memory"), std::string::npos)
      << grouped.boundaries[0].reason;
}

/// Of twenty sums of one tensor each scales the next one; the last two do not depend on each other.
TEST_F(GroupTest, TheNearestReductionsOfATensorAreOneKernel) {
  auto sum = [](const std::string &result, const std::string &with) {
    return "%" + result +
           R"mlir( = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (0)>,
          affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
          ins(%x, %)mlir" +
           with + R"mlir( : tensor<4x8xf32>, tensor<4xf32>) outs(%a : tensor<4xf32>) {
        ^bb0(%v: f32, %w: f32, %s: f32):
          %p = arith.mulf %v, %w : f32
          %t = arith.addf %p, %s : f32
          linalg.yield %t : f32
      } -> tensor<4xf32>
)mlir";
  };
  std::string text =
      "func.func @f(%x: tensor<4x8xf32>, %a: tensor<4xf32>, %r0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {\n";
  for (int number = 1; number < 20; ++number)
    text += sum("r" + std::to_string(number), "r" + std::to_string(number - 1));
  text += sum("first", "r19") + sum("second", "r19") + "return %first, %second : tensor<4xf32>, tensor<4xf32>\n}";
  const GroupedBlock grouped = formGroups(parseFunction(text).front());
  EXPECT_EQ(grouped.groups.size(), 20u);
  EXPECT_EQ(grouped.groups.back().ops.size(), 2u);
}

} // namespace
} // namespace tenon::compiler::dispatch
