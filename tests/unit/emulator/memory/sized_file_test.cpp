// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/memory/sized_file.h"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tenon::emulator {
namespace {

TEST(EmulatorSizedFile, IsAsLongAsWanted) {
  const int file = createSizedFile("test", 0, 12345);
  ASSERT_GE(file, 0);
  struct stat status = {};
  ASSERT_EQ(fstat(file, &status), 0);
  EXPECT_EQ(status.st_size, 12345);
  close(file);
}

TEST(EmulatorSizedFile, IsNoneAboveTheLimit) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit lower = before;
  lower.rlim_cur = 1 << 20;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &lower), 0);
  const int large = createSizedFile("test", 0, (1 << 20) + 1), fits = createSizedFile("test", 0, 1 << 20);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(large, -1); // and no signal
  EXPECT_GE(fits, 0);
  close(fits);
}

} // namespace
} // namespace tenon::emulator
