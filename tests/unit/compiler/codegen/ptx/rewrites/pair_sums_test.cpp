// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/pair_sums.h"

#include "tests/unit/compiler/codegen/ptx/rewrites/rewritten.h"

namespace tenon::compiler::codegen {
namespace {

/// A function of %x and %y that returns %r, with its sums of pairs taken apart.
std::string split(const std::string &type, const std::string &body, unsigned count) {
  const std::string text =
      "define " + type + " @f(" + type + " %x, " + type + " %y) {\n" + body + "\nret " + type + " %r\n}\n";
  return rewritten(text, Printed::Module,
                   [&](llvm::Module &module) { EXPECT_EQ(splitPairSums(module), count) << text; });
}

TEST(PairSumsTest, EachElementIsASumOfItsOwn) {
  const std::string sum = split("<2 x i16>", "%r = add <2 x i16> %x, <i16 4, i16 0>", 1);
  EXPECT_EQ(sum.find("<2 x i16> %x, <i16"), std::string::npos) << sum;
  EXPECT_NE(sum.find(", 4"), std::string::npos) << sum;
  const std::string difference = split("<4 x i16>", "%r = sub <4 x i16> splat (i16 7), %x", 1);
  EXPECT_NE(difference.find("sub i16 7, "), std::string::npos) << difference;
}

/// Of which one half may be a constant.
TEST(PairSumsTest, SumsOfTwoVectorsAreTakenApartToo) {
  const std::string sum =
      split("<2 x i16>", "%c = insertelement <2 x i16> %y, i16 4, i64 0\n%r = add <2 x i16> %x, %c", 1);
  EXPECT_EQ(sum.find("add <2 x i16>"), std::string::npos) << sum;
}

TEST(PairSumsTest, WhatIsAssembledRightStays) {
  split("<2 x i16>", "%r = or <2 x i16> %x, %y", 0);
  split("<2 x i32>", "%r = add <2 x i32> %x, splat (i32 4)", 0);
  split("<2 x i16>", "%r = and <2 x i16> %x, splat (i16 4)", 0);
  split("i16", "%r = add i16 %x, 4", 0);
}

} // namespace
} // namespace tenon::compiler::codegen
