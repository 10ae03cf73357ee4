// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/groups/gates.h"

#include "compiler/dispatch/analysis/groups/form_group.h"
#include "tests/unit/compiler/dispatch/gates_text.h"

namespace tenon::compiler::dispatch {
namespace {

class GatesTest : public GatesTextTest {
protected:
  /// The product by two gates of 32 units, divided, and what `reader` computes, %r.
  llvm::SmallVector<mlir::linalg::GenericOp> generics(const std::string &behind) {
    auto function = parseFunction(
        "func.func @f(%h: tensor<3x64xbf16>, %w: tensor<2x32x64xbf16>, %s: tensor<3x32x2xf32>, %e: tensor<3x32xf32>) "
        "-> "
        "tensor<3x32xf32> {\n%p = linalg.generic {indexing_maps = [affine_map<(b, u, g, k) -> (b, k)>, "
        "affine_map<(b, u, g, k) -> (g, u, k)>, affine_map<(b, u, g, k) -> (b, u, g)>], iterator_types = "
        "[\"parallel\", "
        "\"parallel\", \"parallel\", \"reduction\"]} ins(%h, %w : tensor<3x64xbf16>, tensor<2x32x64xbf16>) outs(%s : "
        "tensor<3x32x2xf32>) attrs = {tenon.gates} " +
        std::string(kProductBody) + " -> tensor<3x32x2xf32>\n" + behind + "\nreturn %r : tensor<3x32xf32>\n}\n");
    return llvm::to_vector(function.getOps<mlir::linalg::GenericOp>());
  }
  static std::string reader(const std::string &first, const std::string &second) {
    return "%r = linalg.generic {indexing_maps = [affine_map<(b, u) -> (" + first + ")>, affine_map<(b, u) -> (" +
           second +
           ")>, affine_map<(b, u) -> (b, u)>], iterator_types = [\"parallel\", \"parallel\"]} ins(%p, %p : "
           "tensor<3x32x2xf32>, tensor<3x32x2xf32>) outs(%e : tensor<3x32xf32>) {\n^bb0(%a: f32, %b: f32, %o: f32):\n"
           "%c = arith.mulf %a, %b : f32\nlinalg.yield %c : f32\n} -> tensor<3x32xf32>";
  }
};

TEST_F(GatesTest, WhatReadsGatesByTheirNumbersIsOncePerRow) {
  auto ops = generics(reader("b, u, 0", "b, u, 1"));
  std::string reason;
  std::optional<Group> group = groupOf(ops, reason);
  ASSERT_TRUE(group.has_value()) << reason;
  EXPECT_EQ(group->numAxes(), 4u);
  EXPECT_EQ(gatesAxisOf(*group), group->axisOf[ops[0]][2]);
  EXPECT_EQ(gateOf(*group, ops[1]->getOpOperand(0)), 0u);
  EXPECT_EQ(gateOf(*group, ops[1]->getOpOperand(1)), 1u);
  EXPECT_EQ(gateOf(*group, ops[0]->getOpOperand(0)), std::nullopt);
  EXPECT_TRUE(group->isPerRow(ops[1]));
  EXPECT_TRUE(readsGates(*group));
}

TEST_F(GatesTest, RowsAndUnitsAreReadWhereTheyAre) {
  std::string reason;
  EXPECT_FALSE(groupOf(generics(reader("b, 3, 0", "b, u, 1")), reason).has_value());
  EXPECT_NE(reason.find("elsewhere"), std::string::npos) << reason;
}

TEST_F(GatesTest, GatesThatAreStoredAreNotReadInTheGroup) {
  auto ops = generics(reader("b, u, 0", "b, u, 1") +
                      "\n%t = tensor.collapse_shape %p [[0, 1, 2]] : tensor<3x32x2xf32> into tensor<192xf32>");
  std::string reason;
  EXPECT_FALSE(groupOf(ops, reason).has_value());
  EXPECT_EQ(reason, "the gates that it reads are stored, too");
}

TEST_F(GatesTest, AProductAloneHasGatesThatNobodyReads) {
  auto ops = generics(reader("b, u, 0", "b, u, 1"));
  std::string reason;
  std::optional<Group> group = groupOf({ops[0]}, reason);
  ASSERT_TRUE(group.has_value()) << reason;
  EXPECT_TRUE(gatesAxisOf(*group).has_value());
  EXPECT_FALSE(readsGates(*group));
}

} // namespace
} // namespace tenon::compiler::dispatch
