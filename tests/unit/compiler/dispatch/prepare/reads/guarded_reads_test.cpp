// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/reads/guarded_reads.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {
namespace {

class GuardedReads : public KernelTextTest {
protected:
  /// Elements of x at %i of %p; the body gives %r.
  std::string gather(const std::string &name, const std::string &body, const std::string &x = "tensor<9xf32>") {
    return "%" + name + "e = tensor.empty() : tensor<12xf32>\n%" + name +
           " = linalg.generic {indexing_maps = [#id, #id], iterator_types = [\"parallel\"]} ins(%p : tensor<12xi32>) "
           "outs(%" +
           name +
           "e : tensor<12xf32>) {\n^bb0(%q: i32, %o: f32):\n%i = arith.index_cast %q : i32 to index\n"
           "%l = linalg.index 0 : index\n" +
           body + "linalg.yield %r : f32\n} -> tensor<12xf32>\n";
  }
  mlir::func::FuncOp guarded(const std::string &text, const std::string &result = "%g",
                             const std::string &x = "tensor<9xf32>") {
    auto function = parseFunction("#id = affine_map<(i) -> (i)>\nfunc.func @f(%x: " + x +
                                  ", %p: tensor<12xi32>, %m: tensor<12xi1>) -> tensor<12xf32> {\n"
                                  "%z = arith.constant 0.0 : f32\n%c0 = arith.constant 0 : index\n"
                                  "%c3 = arith.constant 3 : index\n%c9 = arith.constant 9 : index\n" +
                                  text + "return " + result + " : tensor<12xf32>\n}");
    isCopied_ = guardReads(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_))) << messages_;
    return function;
  }
  static mlir::Operation *placeOfRead(mlir::linalg::GenericOp op) {
    auto read = *op.getBody()->getOps<mlir::tensor::ExtractOp>().begin();
    return read.getIndices()[0].getDefiningOp();
  }
  static std::vector<mlir::linalg::GenericOp> generics(mlir::func::FuncOp function) {
    auto all = function.getOps<mlir::linalg::GenericOp>();
    return {all.begin(), all.end()};
  }
  /// A read at %i, chosen by whether that is in the tensor.
  static constexpr const char *kRead = "%e = tensor.extract %x[%i] : tensor<9xf32>\n";
  static constexpr const char *kInside = "%c = arith.cmpi ult, %i, %c9 : index\n";
  static constexpr const char *kChosen = "%r = arith.select %c, %e, %z : f32\n";
  /// %s of what %g holds where %m does.
  static std::string chosenBehind(const std::string &name, const std::string &yes, const std::string &no) {
    return "%" + name + "e = tensor.empty() : tensor<12xf32>\n%" + name +
           " = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = [\"parallel\"]} ins(%m, %g : "
           "tensor<12xi1>, tensor<12xf32>) outs(%" +
           name + "e : tensor<12xf32>) {\n^bb0(%c: i1, %e: f32, %o: f32):\n%r = arith.select %c, " + yes + ", " + no +
           " : f32\nlinalg.yield %r : f32\n} -> tensor<12xf32>\n";
  }
  bool isCopied_ = false;
};

TEST_F(GuardedReads, APlaceIsTakenWhereTheSelectTakesTheElement) {
  auto op = generics(guarded(gather("g", std::string(kRead) + kInside + kChosen)))[0];
  auto place = mlir::dyn_cast<mlir::arith::SelectOp>(placeOfRead(op)); // the comparison came in front of it
  ASSERT_TRUE(place);
  EXPECT_TRUE(place.getCondition().getDefiningOp<mlir::arith::CmpIOp>());
  EXPECT_TRUE(place.getTrueValue().getDefiningOp<mlir::arith::IndexCastOp>());
}

TEST_F(GuardedReads, TheOtherArmIsTakenWhereTheConditionDoesNotHold) {
  auto op = generics(guarded(gather("g", std::string(kRead) + kInside + "%r = arith.select %c, %z, %e : f32\n")))[0];
  auto place = mlir::dyn_cast<mlir::arith::SelectOp>(placeOfRead(op));
  ASSERT_TRUE(place);
  EXPECT_TRUE(place.getCondition().getDefiningOp<mlir::arith::XOrIOp>());
}

TEST_F(GuardedReads, WhatIsComputedOfTheElementIsThrownAwayWithIt) {
  auto op = generics(guarded(gather("g", std::string(kRead) + kInside +
                                             "%h = arith.addf %e, %e : f32\n%r = arith.select %c, %h, %z : f32\n")))[0];
  EXPECT_TRUE(mlir::isa<mlir::arith::SelectOp>(placeOfRead(op)));
}

TEST_F(GuardedReads, WhatIsAlwaysLookedAtStays) {
  for (const char *body : {"%r = arith.addf %e, %z : f32\n", // no select
                           "%h = arith.select %c, %e, %z : f32\n%r = arith.addf %h, %e : f32\n",
                           "%d = arith.cmpf ogt, %e, %z : f32\n%r = arith.select %d, %e, %z : f32\n"}) {
    auto op = generics(guarded(gather("g", std::string(kRead) + kInside + body)))[0];
    EXPECT_TRUE(mlir::isa<mlir::arith::IndexCastOp>(placeOfRead(op))) << body;
  }
}

TEST_F(GuardedReads, PlacesInTheTensorStay) {
  // 12 loops, and a place below 9.
  auto clamped = "%c8 = arith.constant 8 : index\n%j = arith.minsi %i, %c8 : index\n%k = arith.maxsi %j, %c0 : index\n"
                 "%e = tensor.extract %x[%k] : tensor<9xf32>\n";
  auto op = generics(guarded(gather("g", std::string(clamped) + kInside + kChosen)))[0];
  EXPECT_TRUE(mlir::isa<mlir::arith::MaxSIOp>(placeOfRead(op)));
}

TEST_F(GuardedReads, PlacesOfLoopsStayARun) {
  for (const char *x : {"tensor<9xf32>", "tensor<?xf32>"}) {
    auto body = std::string("%j = arith.subi %l, %c3 : index\n%e = tensor.extract %x[%j] : ") + x +
                "\n%c = arith.cmpi ult, %j, %c9 : index\n" + kChosen;
    auto op = generics(guarded(gather("g", body), "%g", x))[0];
    auto place = mlir::dyn_cast<mlir::arith::MaxSIOp>(placeOfRead(op));
    ASSERT_TRUE(place) << x;
    EXPECT_TRUE(place.getLhs().getDefiningOp<mlir::arith::MinSIOp>());
  }
  // A condition that does not know the loop says nothing of it.
  auto other =
      std::string("%j = arith.subi %l, %c3 : index\n%e = tensor.extract %x[%j] : tensor<9xf32>\n") + kInside + kChosen;
  EXPECT_TRUE(mlir::isa<mlir::arith::SubIOp>(placeOfRead(generics(guarded(gather("g", other)))[0])));
}

// Rows and columns of images of unknown number, whose border says nothing of the image; its places name all loops.
TEST_F(GuardedReads, ALoopThatTheConditionDoesNotLookAtStays) {
  auto function = parseFunction(R"mlir(
    func.func @f(%x: tensor<?x9xf32>, %e: tensor<?x12xf32>) -> tensor<?x12xf32> {
      %z = arith.constant 0.0 : f32
      %c9 = arith.constant 9 : index
      %0 = linalg.generic {indexing_maps = [affine_map<(n, i) -> (n, i)>], iterator_types = ["parallel", "parallel"]}
          outs(%e : tensor<?x12xf32>) {
        ^bb0(%o: f32):
          %n = linalg.index 0 : index
          %i = linalg.index 1 : index
          %p = affine.apply affine_map<(n, i) -> (i - 1)>(%n, %i)
          %c = arith.cmpi ult, %p, %c9 : index
          %v = tensor.extract %x[%n, %p] : tensor<?x9xf32>
          %r = arith.select %c, %v, %z : f32
          linalg.yield %r : f32
      } -> tensor<?x12xf32>
      return %0 : tensor<?x12xf32>
    })mlir");
  guardReads(function);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_))) << messages_;
  auto op = generics(function)[0];
  auto read = *op.getBody()->getOps<mlir::tensor::ExtractOp>().begin();
  EXPECT_TRUE(read.getIndices()[0].getDefiningOp<mlir::linalg::IndexOp>());
}

// Of a loop nobody knows how far it goes, nor of twice its number.
TEST_F(GuardedReads, APlaceWithoutAKnownRangeIsNotTakenForInside) {
  for (const char *place : {"%i", "%twice"}) {
    auto function = parseFunction(std::string(R"mlir(
    func.func @f(%x: tensor<9xf32>, %e: tensor<?xf32>) -> tensor<?xf32> {
      %z = arith.constant 0.0 : f32
      %c2 = arith.constant 2 : index
      %c9 = arith.constant 9 : index
      %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          outs(%e : tensor<?xf32>) {
        ^bb0(%o: f32):
          %i = linalg.index 0 : index
          %twice = arith.muli %i, %c2 : index
          %c = arith.cmpi ult, )mlir") +
                                  place + R"mlir(, %c9 : index
          %v = tensor.extract %x[)mlir" +
                                  place + R"mlir(] : tensor<9xf32>
          %r = arith.select %c, %v, %z : f32
          linalg.yield %r : f32
      } -> tensor<?xf32>
      return %0 : tensor<?xf32>
    })mlir");
    guardReads(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_))) << messages_;
    EXPECT_TRUE(mlir::isa_and_nonnull<mlir::arith::MaxSIOp>(placeOfRead(generics(function)[0]))) << place;
  }
}

TEST_F(GuardedReads, TheConditionOfAnotherOperationIsReadHere) {
  auto ops = generics(guarded(
      gather("g", std::string(kRead) + "%r = arith.addf %e, %z : f32\n") + chosenBehind("s", "%e", "%z"), "%s"));
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_FALSE(isCopied_);
  EXPECT_EQ(ops[0].getNumDpsInputs(), 2);
  EXPECT_TRUE(mlir::isa<mlir::arith::SelectOp>(placeOfRead(ops[0])));
}

TEST_F(GuardedReads, EachReaderHasItsOwn) {
  auto text = gather("g", std::string(kRead) + "%r = arith.addf %e, %z : f32\n") + chosenBehind("s", "%e", "%z") +
              chosenBehind("t", "%z", "%e") + "%u = arith.addf %s, %t : tensor<12xf32>\n";
  auto ops = generics(guarded(text, "%u"));
  ASSERT_EQ(ops.size(), 4u);
  EXPECT_TRUE(isCopied_);
  for (unsigned number = 0; number < 4; ++number)
    if (!ops[number].getBody()->getOps<mlir::tensor::ExtractOp>().empty())
      EXPECT_TRUE(mlir::isa<mlir::arith::SelectOp>(placeOfRead(ops[number])));
}

TEST_F(GuardedReads, AReaderThatLooksAlwaysLeavesItAsItIs) {
  auto text = gather("g", std::string(kRead) + "%r = arith.addf %e, %z : f32\n") + chosenBehind("s", "%e", "%z") +
              "%u = arith.addf %s, %g : tensor<12xf32>\n";
  auto ops = generics(guarded(text, "%u"));
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_TRUE(mlir::isa<mlir::arith::IndexCastOp>(placeOfRead(ops[0])));
}

} // namespace
} // namespace tenon::compiler::dispatch
