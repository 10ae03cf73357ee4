// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/memory.h"

#include <gtest/gtest.h>
#include <string>
#include <sys/resource.h>
#include <vector>

using namespace tenon;

TEST(Memory, GrowsAndKeepsWhatWasThere) {
  std::vector<int> numbers = {1, 2};
  ASSERT_TRUE(resizeChecked(numbers, 4, "numbers").ok());
  EXPECT_EQ(numbers, (std::vector<int>{1, 2, 0, 0}));
  ASSERT_TRUE(resizeChecked(numbers, 1, "numbers").ok());
  EXPECT_EQ(numbers, std::vector<int>{1});
}

TEST(Memory, RefusesMoreThanIsFree) {
  const Status status = checkMemory(uint64_t(1) << 50, "the elements of a tensor");
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_TRUE(status.message().starts_with("not enough memory for the elements of a tensor: 1125899906842624 bytes, "))
      << status.message();
  EXPECT_TRUE(status.message().ends_with(" are free")) << status.message();
}

TEST(Memory, RefusesACountThatOverflows) {
  std::vector<uint64_t> numbers(3);
  const Status status = resizeChecked(numbers, UINT64_MAX / 4, "numbers");
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_TRUE(status.message().starts_with("not enough memory for numbers: ")) << status.message();
  EXPECT_EQ(numbers.size(), 3u);
}

#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) // which need the addresses themselves

namespace {
void takeAddresses() {
  const rlimit limit = {uint64_t(1) << 30, uint64_t(1) << 30};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
}
} // namespace

TEST(MemoryDeathTest, SeesTheLimitOfAddresses) {
  EXPECT_EXIT(
      {
        takeAddresses();
        std::string text;
        const Status status = resizeChecked(text, uint64_t(2) << 30, "'a file'");
        std::fprintf(stderr, "%s", status.toString().c_str());
        std::exit(status.code() == StatusCode::ResourceExhausted ? 3 : 4);
      },
      ::testing::ExitedWithCode(3), "resource exhausted: not enough memory for 'a file': 2147483648 bytes");
}

TEST(MemoryDeathTest, AToolSaysThatMemoryRanOut) {
  EXPECT_EXIT(
      {
        takeAddresses();
        reportMissingMemory("tool");
        const volatile size_t bytes = size_t(2) << 30;
        const std::string text(bytes, 'x');
        std::exit(static_cast<int>(text[bytes / 2])); // not reached
      },
      ::testing::ExitedWithCode(1), "tool: error: out of memory");
}

#endif
