// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/arch_spelling.h"

#include <gtest/gtest.h>

namespace tenon::abi {
namespace {

TEST(ArchAdvice, ReadsOtherSpellings) {
  for (const char *text : {"sm80", "80", "compute_80", "8.0", "SM_80"})
    EXPECT_TRUE(archAdvice(text).starts_with("did you mean 'sm_80'? Known: sm_50, "))
        << text << ": " << archAdvice(text);
  EXPECT_TRUE(archAdvice("compute_90a").starts_with("did you mean 'sm_90a'? "));
}

TEST(ArchAdvice, NamesTheNearest) {
  EXPECT_TRUE(archAdvice("sm_83").starts_with("did you mean 'sm_53', 'sm_80' or 'sm_86'? Known: "))
      << archAdvice("sm_83");
}

TEST(ArchAdvice, ListsAllWhereNoneIsNear) {
  EXPECT_TRUE(archAdvice("hopper").starts_with("known: sm_50, ")) << archAdvice("hopper");
  EXPECT_TRUE(archAdvice("").find("sm_120") != std::string::npos);
}

} // namespace
} // namespace tenon::abi
