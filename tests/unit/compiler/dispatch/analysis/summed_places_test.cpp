// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/summed_places.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tenon::compiler::dispatch {
namespace {

using Runs = std::vector<std::pair<int64_t, int64_t>>;

class SummedPlacesOf : public KernelTextTest {
protected:
  /// Three loops: p of three positions, x, and the sum over six places t; the condition is what the body computes as
  /// %c.
  std::optional<llvm::SmallVector<SummedPlaces>> places(const std::string &condition) {
    op_ = firstGeneric(R"(
func.func @f(%a: tensor<3x6xf32>, %b: tensor<4x6xf32>, %o: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %n0 = arith.constant 0 : index
  %n1 = arith.constant 1 : index
  %n2 = arith.constant 2 : index
  %n6 = arith.constant 6 : index
  %none = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [affine_map<(p, x, t) -> (p, t)>, affine_map<(p, x, t) -> (x, t)>, affine_map<(p, x, t) -> (p, x)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<3x6xf32>, tensor<4x6xf32>) outs(%o : tensor<3x4xf32>) {
  ^bb0(%y: f32, %z: f32, %s: f32):
    %p = linalg.index 0 : index
    %x = linalg.index 1 : index
    %t = linalg.index 2 : index
)" + condition + R"(
    %m = arith.mulf %y, %z : f32
    %v = arith.select %c, %m, %none : f32
    %u = arith.addf %s, %v : f32
    linalg.yield %u : f32
  } -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
})");
    return summedPlacesOf((*op_.getBody()->getOps<mlir::arith::SelectOp>().begin()).getCondition(), op_);
  }
  static Runs runsOf(const SummedPlaces &places) {
    Runs runs;
    for (const SummedPlaces::Run &run : places.runs)
      runs.emplace_back(run.first, run.count);
    return runs;
  }

  mlir::linalg::GenericOp op_;
};

TEST_F(SummedPlacesOf, AConditionOnTwoLoopsIsARunForEachPosition) {
  const auto found = places("%q = arith.addi %p, %t : index\n%b0 = arith.andi %q, %n1 : index\n"
                            "%c = arith.cmpi eq, %b0, %n0 : index"); // p + t is even
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().of, 0u);
  EXPECT_EQ(found->front().along, 2u);
  EXPECT_EQ(found->front().step, 2);
  EXPECT_EQ(runsOf(found->front()), (Runs{{0, 3}, {1, 3}, {0, 3}}));
}

TEST_F(SummedPlacesOf, WhatIsWrittenIsRead) {
  places("%c = arith.cmpi eq, %p, %t : index");
  auto exists = [](int64_t p, int64_t t) { return p == 1 ? t >= 2 && t < 4 : p == 2 && t == 5; };
  auto indices = op_.getBody()->getOps<mlir::linalg::IndexOp>();
  mlir::Value p = *indices.begin(), t = *std::next(indices.begin(), 2);
  mlir::OpBuilder b(*op_.getBody()->getOps<mlir::arith::SelectOp>().begin());
  const auto found = summedPlacesOf(writeSummedPlaces(b, op_.getLoc(), p, t, 3, 6, exists), op_);
  ASSERT_TRUE(found);
  EXPECT_EQ(runsOf(found->front()), (Runs{{0, 0}, {2, 2}, {5, 1}})) << "the first has none";
  EXPECT_EQ(found->front().step, 1);
}

TEST_F(SummedPlacesOf, NeedsAParallelLoopAndAReducedOne) {
  EXPECT_FALSE(places("%c = arith.cmpi eq, %p, %x : index"));
  EXPECT_FALSE(places("%c = arith.cmpi eq, %t, %n1 : index"));
  EXPECT_FALSE(places("%q = arith.addi %p, %x : index\n%c = arith.cmpi eq, %q, %t : index"));
  EXPECT_FALSE(places("%c0 = arith.cmpi eq, %p, %t : index\n%c1 = arith.cmpi ne, %p, %t : index\n"
                      "%c = arith.andi %c0, %c1 : i1"))
      << "two of the same loops";
}

TEST_F(SummedPlacesOf, PlacesThatLieInNoStepsAreNone) {
  EXPECT_FALSE(
      places("%q = arith.muli %t, %t : index\n%w = arith.andi %q, %n6 : index\n%v0 = arith.addi %w, %p : index\n"
             "%c = arith.cmpi eq, %v0, %n2 : index"));
  EXPECT_FALSE(places("%c = arith.cmpi ult, %p, %t : index")) << "of numbers that may have a sign";
}

// One and one is none in a single bit, and a bit that is set is -1.
TEST_F(SummedPlacesOf, BitsAreNoNumbers) {
  const std::string equal = "%c0 = arith.cmpi eq, %p, %t : index\n";
  EXPECT_FALSE(places(equal + "%c = arith.addi %c0, %c0 : i1"));
  EXPECT_FALSE(places(equal + "%yes = arith.constant true\n%c = arith.cmpi ne, %c0, %yes : i1"));
}

} // namespace
} // namespace tenon::compiler::dispatch
