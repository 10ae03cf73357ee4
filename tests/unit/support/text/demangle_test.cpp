// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/text/demangle.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(Demangle, ReadsItaniumNames) {
  EXPECT_EQ(demangle("_Z10simple_mulPKfi"), "simple_mul(float const*, int)");
  EXPECT_EQ(demangle("simple_mul"), "");
  EXPECT_EQ(demangle("i"), "") << "the demangler alone would say int";
  EXPECT_EQ(demangle("_Znonsense"), "");
  EXPECT_EQ(readableName("_Z10simple_mulPKfi"), "simple_mul(float const*, int)");
  EXPECT_EQ(readableName("simple_mul"), "simple_mul");
}

TEST(Demangle, FindsTheBaseName) {
  EXPECT_EQ(baseName("simple_mul(float const*, int)"), "simple_mul");
  EXPECT_EQ(baseName("void ns::simple_mul<float, ns::T<2> >(float const*)"), "simple_mul");
  EXPECT_EQ(baseName("(anonymous namespace)::simple_mul(int)"), "simple_mul");
  EXPECT_EQ(baseName("void (anonymous namespace)::f<int>(int (*)(int))"), "f");
  EXPECT_EQ(baseName(""), "");
}

} // namespace
} // namespace tenon
