// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/choices.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class Choices : public KernelTextTest {
protected:
  /// Of rows of 4x8: `body` computes %c from the element %x and the accumulator %m; `value` is what %m becomes.
  std::optional<Choice> choice(const std::string &type, const std::string &body, const std::string &value = "") {
    const std::string next = value.empty() ? "arith.select %c, %x, %m : " + type : value;
    return choiceOf(firstGeneric(
        "func.func @f(%a: tensor<4x8x" + type + ">, %e: tensor<4x" + type +
        ">, %p: tensor<4xi64>) -> tensor<4xi64> {\n" +
        "%v:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, " +
        "affine_map<(i, j) -> (i)>], iterator_types = [\"parallel\", \"reduction\"]} ins(%a : tensor<4x8x" + type +
        ">) outs(%e, %p : tensor<4x" + type + ">, tensor<4xi64>) {\n^bb0(%x: " + type + ", %m: " + type +
        ", %o: i64):\n%i = linalg.index 1 : index\n%h = arith.index_cast %i : index to i64\n" + body +
        "\n%n = " + next + "\n%w = arith.select %c, %h, %o : i64\nlinalg.yield %n, %w : " + type +
        ", i64\n} -> (tensor<4x" + type + ">, tensor<4xi64>)\nreturn %v#1 : tensor<4xi64>\n}"));
  }
};

TEST_F(Choices, SayWhichElementWins) {
  auto first = choice("f32", "%c = arith.cmpf ogt, %x, %m : f32");
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->value, 0u);
  EXPECT_TRUE(first->isLargest);
  EXPECT_FALSE(first->isLast);
  EXPECT_FALSE(first->takesNaN);
  EXPECT_FALSE(first->endsAtNaN);
  EXPECT_TRUE(choice("f32", "%c = arith.cmpf oge, %x, %m : f32")->isLast);
  EXPECT_FALSE(choice("f32", "%c = arith.cmpf ogt, %m, %x : f32")->isLargest);
  EXPECT_FALSE(choice("f32", "%c = arith.cmpf olt, %x, %m : f32")->isLargest);
  EXPECT_TRUE(choice("i32", "%c = arith.cmpi ugt, %x, %m : i32")->isUnsigned);
  EXPECT_EQ(choice("i32", "%c = arith.cmpi sgt, %h, %o : i64")->value, 1u);
  EXPECT_FALSE(choice("i32", "%c = arith.cmpi slt, %x, %m : i32")->isLargest);
}

TEST_F(Choices, NaNsWinOrAreNeverTaken) {
  EXPECT_TRUE(choice("f32", "%g = arith.cmpf ugt, %x, %m : f32\n%k = arith.cmpf ord, %m, %m : f32\n"
                            "%c = arith.andi %g, %k : i1")
                  ->takesNaN);
  EXPECT_TRUE(choice("f16",
                     "%g = arith.cmpf ogt, %x, %m : f16\n%k = arith.cmpf uno, %x, %x : f16\n"
                     "%y = arith.cmpf ord, %m, %m : f16\n%z = arith.andi %k, %y : i1\n%c = arith.ori %g, %z : i1")
                  ->takesNaN);
  // A number replaces a NaN that replaces all numbers: what wins depends on the order of elements.
  EXPECT_FALSE(choice("f32", "%c = arith.cmpf ugt, %x, %m : f32"));
  EXPECT_FALSE(choice("f32", "%c = arith.cmpf ule, %x, %m : f32"));
}

TEST_F(Choices, TheExtremeMayBeOneOperation) {
  EXPECT_TRUE(choice("i32", "%c = arith.cmpi sgt, %x, %m : i32", "arith.maxsi %x, %m : i32"));
  EXPECT_FALSE(choice("i32", "%c = arith.cmpi sgt, %x, %m : i32", "arith.maxui %x, %m : i32"));
  EXPECT_FALSE(choice("i32", "%c = arith.cmpi sgt, %x, %m : i32", "arith.minsi %x, %m : i32"));
  auto ends = choice("f32", "%c = arith.cmpf ogt, %x, %m : f32", "arith.maximumf %m, %x : f32");
  ASSERT_TRUE(ends.has_value());
  EXPECT_TRUE(ends->endsAtNaN);
  EXPECT_FALSE(choice("f32", "%c = arith.cmpf oge, %x, %m : f32", "arith.maximumf %m, %x : f32"));
  EXPECT_FALSE(choice("f32", "%c = arith.cmpf ogt, %x, %m : f32", "arith.maxnumf %m, %x : f32"));
}

TEST_F(Choices, OtherConditionsAreNone) {
  EXPECT_FALSE(choice("f32", "%c = arith.cmpf one, %x, %m : f32"));
  EXPECT_FALSE(choice("f32", "%d = arith.addf %m, %x : f32\n%c = arith.cmpf ogt, %x, %d : f32"));
  EXPECT_FALSE(choice("i32", "%s = arith.cmpi sgt, %x, %m : i32\n%u = arith.cmpi ugt, %x, %m : i32\n"
                             "%c = arith.ori %s, %u : i1"));
  EXPECT_FALSE(choice("f32", "%c = arith.cmpf ogt, %x, %m : f32", "arith.addf %x, %m : f32"));
}

} // namespace
} // namespace tenon::compiler::dispatch
