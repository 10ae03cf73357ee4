// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/radix_sweep.h"

#include "tests/unit/compiler/codegen/along/plans.h"

namespace tenon::compiler::codegen {
namespace {

class RadixSweepTest : public AlongTest {
protected:
  /// Kernels that sort by the first of so many tensors; the others hold i32.
  AlongPlans sweep(const std::string &shape, const std::string &type, const std::string &compare,
                   unsigned operands = 1) {
    std::vector<std::string> tensors = {"tensor<" + shape + "x" + type + ">"};
    std::string names = "%x", types = tensors[0], arguments = "%a: " + type + ", %b: " + type;
    for (unsigned i = 1; i < operands; ++i) {
      tensors.push_back("tensor<" + shape + "xi32>");
      names += i == 1 ? ", %y" : ", %z";
      types += ", " + tensors.back();
      arguments += ", %a" + std::to_string(i) + ": i32, %b" + std::to_string(i) + ": i32";
    }
    return plansOf(tensors,
                   "sort dimension(0) outs(" + names + " : " + types + ") {\n^bb0(" + arguments + "):\n" + compare +
                       "\niree_linalg_ext.yield %s : i1\n}",
                   tensors);
  }
};

TEST_F(RadixSweepTest, AStepForEachDigit) {
  AlongPlans plans = sweep("20000", "f32", "%s = arith.cmpf olt, %a, %b : f32");
  ASSERT_EQ(plans.kernels.size(), 6u);
  EXPECT_EQ(plans.scratch.size(), 5u); // two sets of keys; counts, states and tickets
  for (unsigned pass = 0; pass < 4; ++pass) {
    EXPECT_EQ(choice(plans.kernels[2 + pass], "pass"), pass);
    EXPECT_EQ(choice(plans.kernels[2 + pass], kBlocksWait), 1);
  }
  plans = sweep("20000", "i8", "%s = arith.cmpi sgt, %a, %b : i8");
  EXPECT_EQ(plans.kernels.size(), 3u);
  EXPECT_EQ(plans.scratch.size(), 3u) << "keys go from the input to the result";
  plans = sweep("20000", "i16", "%s = arith.cmpi sgt, %a, %b : i16", 2);
  EXPECT_EQ(plans.kernels.size(), 4u);
  EXPECT_EQ(plans.scratch.size(), 5u) << "a key and a value";
}

TEST_F(RadixSweepTest, OneOtherResultMovesItselfAndOfSeveralThePlace) {
  EXPECT_EQ(sweep("20000", "f32", "%s = arith.cmpf olt, %a, %b : f32", 2).scratch.size(), 7u);
  AlongPlans plans = sweep("?", "f64", "%s = arith.cmpf olt, %a, %b : f64", 3);
  ASSERT_EQ(plans.scratch.size(), 7u);
  EXPECT_TRUE(plans.scratch[1].element.isInteger(64)) << "a place in a line of unknown length";
}

TEST_F(RadixSweepTest, StatesHoldTwoBitsMoreThanCounts) {
  const std::string less = "%s = arith.cmpf olt, %a, %b : f32";
  AlongPlans plans = sweep("1000000000", "f32", less);
  EXPECT_EQ(choice(plans.kernels.back(), "position"), 32);
  EXPECT_EQ(choice(plans.kernels.back(), "state"), 32);
  plans = sweep("2000000000", "f32", less);
  EXPECT_EQ(choice(plans.kernels.back(), "position"), 32);
  EXPECT_EQ(choice(plans.kernels.back(), "state"), 64);
  plans = sweep("?", "f32", less);
  EXPECT_EQ(choice(plans.kernels.back(), "state"), 64);
}

/// Of an unknown length states have a share of the elements' number: two steps' tiles have no more of them.
TEST_F(RadixSweepTest, StatesOfUnknownLengthsFit) {
  for (const char *type : {"i8", "f32", "f64"}) {
    const std::string name = type, compare = name == "i8" ? "cmpi slt" : "cmpf olt";
    AlongPlans plans = sweep("?", name, "%s = arith." + compare + ", %a, %b : " + name, 3);
    const int64_t tile = choice(plans.kernels.back(), "items") * RadixKey::kDigits;
    const int64_t share = plans.scratch[plans.scratch.size() - 2].share;
    for (int64_t length : {tile + 1, 2 * tile, 2 * tile + 1, 100 * tile})
      EXPECT_LE(2 * RadixKey::kDigits * ((length + tile - 1) / tile), length / share) << type;
  }
}

} // namespace
} // namespace tenon::compiler::codegen
