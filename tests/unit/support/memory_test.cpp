// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/memory.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
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

namespace {

/// Files of control groups, in a folder of their own.
class ControlGroups : public ::testing::Test {
protected:
  ControlGroups() : root_(::testing::TempDir() + "control_groups_" + std::to_string(::getpid())) {
    std::filesystem::remove_all(root_);
  }
  ~ControlGroups() override { std::filesystem::remove_all(root_); }
  void write(const std::string &path, const std::string &text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  std::optional<uint64_t> freeOf(std::string_view membership) { return freeInControlGroups(membership, root_); }
  std::string root_;
};

} // namespace

TEST_F(ControlGroups, OfTheSecondVersion) {
  EXPECT_EQ(freeOf("0::/job\n"), std::nullopt);
  write("/job/memory.max", "1000\n");
  EXPECT_EQ(freeOf("0::/job\n"), std::nullopt);
  write("/job/memory.current", "700\n");
  EXPECT_EQ(freeOf("0::/job\n"), 300u);
  write("/job/memory.stat", "anon 5\ninactive_file 200\nactive_file 6\n");
  EXPECT_EQ(freeOf("0::/job\n"), 500u);
  write("/job/memory.current", "1300\n");
  write("/job/memory.stat", "anon 5\n");
  EXPECT_EQ(freeOf("0::/job\n"), 0u);
  write("/job/memory.max", "max\n");
  EXPECT_EQ(freeOf("0::/job\n"), std::nullopt);
}

TEST_F(ControlGroups, TheTightestOneAboveCounts) {
  write("/a/memory.max", "900\n");
  write("/a/memory.current", "800\n");
  write("/a/b/memory.max", "500\n");
  write("/a/b/memory.current", "100\n");
  EXPECT_EQ(freeOf("0::/a/b\n"), 100u);
  EXPECT_EQ(freeOf("0::/a/b/c"), 100u);
  write("/memory.max", "60\n");
  write("/memory.current", "10\n");
  EXPECT_EQ(freeOf("0::/a/b\n"), 50u);
  EXPECT_EQ(freeOf("0::/\n"), 50u);
}

TEST_F(ControlGroups, OfTheFirstVersion) {
  write("/memory/a/memory.limit_in_bytes", "1000\n");
  write("/memory/a/memory.usage_in_bytes", "600\n");
  write("/memory/a/memory.stat", "cache 9\ninactive_file 1\ntotal_inactive_file 50\n");
  EXPECT_EQ(freeOf("9:cpu:/a\n4:memory:/a\n0::/\n"), 450u);
  EXPECT_EQ(freeOf("9:cpu:/a\n"), std::nullopt);
  EXPECT_EQ(freeOf("nonsense\n4:memory\n::\n"), std::nullopt);
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
