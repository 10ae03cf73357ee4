// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/lanes.h"

#include "tests/unit/compiler/codegen/kernel/kernel_writer.h"

namespace tenon::compiler::codegen {
namespace {

class LanesTest : public KernelWriterTest {
protected:
  template <typename Op> Order orderOfTwo(Order x, Order y) {
    KernelBuilder &k = begin();
    auto op = Op::create(k.b, k.loc, parameter(0), parameter(1));
    return orderOf(*op, {of(x), of(y)});
  }
  Lanes of(Order order) { return {llvm::SmallVector<mlir::Value>(order == Order::Same ? 1 : 4, parameter(0)), order}; }
};

TEST_F(LanesTest, ARunStaysOneWhereAllLanesMoveTogether) {
  using namespace mlir::arith;
  EXPECT_EQ(orderOfTwo<AddIOp>(Order::Run, Order::Same), Order::Run);
  EXPECT_EQ(orderOfTwo<AddIOp>(Order::Same, Order::Steps), Order::Steps);
  EXPECT_EQ(orderOfTwo<AddIOp>(Order::Run, Order::Run), Order::Any) << "it grows by two";
  EXPECT_EQ(orderOfTwo<SubIOp>(Order::Run, Order::Same), Order::Run);
  EXPECT_EQ(orderOfTwo<SubIOp>(Order::Same, Order::Run), Order::Any) << "it falls";
  EXPECT_EQ(orderOfTwo<MulIOp>(Order::Run, Order::Same), Order::Any);
  EXPECT_EQ(orderOfTwo<MulIOp>(Order::Same, Order::Same), Order::Same);
}

TEST_F(LanesTest, AClampedRunStandsStillAtTheEnds) {
  using namespace mlir::arith;
  EXPECT_EQ(orderOfTwo<MinSIOp>(Order::Run, Order::Same), Order::Steps);
  EXPECT_EQ(orderOfTwo<MaxSIOp>(Order::Steps, Order::Same), Order::Steps);
  EXPECT_EQ(orderOfTwo<MinUIOp>(Order::Run, Order::Run), Order::Any);
}

TEST_F(LanesTest, PositionsOfFewerBitsMayWrap) {
  KernelBuilder &k = begin();
  mlir::Value index = mlir::arith::IndexCastOp::create(k.b, k.loc, k.b.getIndexType(), parameter(0));
  EXPECT_EQ(orderOf(*index.getDefiningOp(), {of(Order::Run)}), Order::Run);
  mlir::Value narrow = mlir::arith::IndexCastOp::create(k.b, k.loc, k.b.getI32Type(), index);
  EXPECT_EQ(orderOf(*narrow.getDefiningOp(), {of(Order::Run)}), Order::Any);
}

TEST_F(LanesTest, AComparisonOfARunHoldsBetweenItsEnds) {
  using Predicate = mlir::arith::CmpIPredicate;
  KernelBuilder &k = begin();
  auto lanesOf = [&](mlir::Value value) { return of(value == parameter(1) ? Order::Same : Order::Run); };
  auto compare = [&](Predicate predicate, mlir::Value x, mlir::Value y) -> mlir::Value {
    return mlir::arith::CmpIOp::create(k.b, k.loc, predicate, x, y);
  };
  mlir::Value below = compare(Predicate::ult, parameter(0), parameter(1));
  mlir::Value other = compare(Predicate::ne, parameter(0), parameter(1));
  EXPECT_TRUE(holdsBetween(below, lanesOf));
  EXPECT_FALSE(holdsBetween(other, lanesOf)) << "one in between may be equal";
  EXPECT_FALSE(holdsBetween(compare(Predicate::uge, parameter(0), parameter(1)), lanesOf))
      << "a run that starts below zero starts with huge numbers";
  EXPECT_TRUE(holdsBetween(mlir::arith::AndIOp::create(k.b, k.loc, below, below), lanesOf));
  EXPECT_FALSE(holdsBetween(mlir::arith::AndIOp::create(k.b, k.loc, below, other), lanesOf));
}

} // namespace
} // namespace tenon::compiler::codegen
