// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/process/large_stack.h"

#include <gtest/gtest.h>

using namespace tenon;

namespace {
/// Takes some 1 KiB of stack for each level.
int descend(int levels) {
  volatile char room[1024] = {};
  room[levels % 1024] = 1;
  return levels == 0 ? 0 : descend(levels - 1) + room[levels % 1024];
}
} // namespace

TEST(LargeStack, HoldsWhatTheCallersDoesNot) {
  int levels = 0;
  ASSERT_TRUE(runWithLargeStack(size_t(256) << 20, [&] { levels = descend(60'000); }).ok());
  EXPECT_EQ(levels, 60'000);
}

TEST(LargeStack, SaysThatThereIsNone) {
  bool ran = false;
  const Status status = runWithLargeStack(size_t(1) << 60, [&] { ran = true; });
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_TRUE(status.message().starts_with("no thread with 1152921504606846976 bytes of stack can be had: "))
      << status.message();
  EXPECT_FALSE(ran);
}
