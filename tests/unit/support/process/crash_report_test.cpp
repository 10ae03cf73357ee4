// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/process/crash_report.h"

#include "support/files/file.h"
#include "support/process/large_stack.h"
#include "support/status.h"

#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <sstream>
#include <thread>

namespace tenon {
namespace {

namespace fs = std::filesystem;

class CrashReportDeathTest : public ::testing::Test {
protected:
  void SetUp() override {
    folder_ =
        concat(::testing::TempDir(), "tenon_crash_", ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    ASSERT_EQ(setenv("TMPDIR", folder_.c_str(), 1), 0);
  }
  void TearDown() override {
    unsetenv("TMPDIR");
    fs::remove_all(folder_);
  }

  /// The only file in the folder.
  std::string reproducer() const {
    std::string text;
    int count = 0;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder_)) {
      text = *readFile(entry.path().string());
      ++count;
    }
    EXPECT_EQ(count, 1);
    return text;
  }
  std::string folder_;
};

TEST_F(CrashReportDeathTest, LeavesTheInputAndTheCalls) {
  EXPECT_EXIT(
      {
        const CrashReport report("tool", "// ", "tool a.mlir", "module {}\n");
        CrashReport::setPhase("link");
        raise(SIGABRT);
      },
      ::testing::KilledBySignal(SIGABRT),
      "tool: crashed in phase 'link' .signal 6., which is a bug in tool\ntool: what led to it is in "
      "'.*/tool-crash-[0-9]+.txt'");
  const std::string text = reproducer(), begin = "// tool a.mlir\nmodule {}\n\n";
  EXPECT_TRUE(text.starts_with(begin)) << text;
  int calls = 0; // of this program's own functions
  std::istringstream lines(text.substr(begin.size()));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(line.starts_with("// ")) << line;
    calls += line.find("-test 0x") != std::string::npos;
  }
  EXPECT_GT(calls, 2) << text;
}

// A sanitizer has handlers of its own for what a stack overflow is.
#if !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
int recurse(int depth) {
  volatile char room[4096] = {};
  return depth == 0 ? 0 : recurse(depth - 1) + room[depth % 4096] + 1;
}

TEST_F(CrashReportDeathTest, KnowsAnOverflowOfALargeStack) {
  EXPECT_EXIT(
      {
        const CrashReport report("tool", "# ", "tool a", "input");
        CrashReport::setPhase(std::string(1000, 'x'));
        (void)runWithLargeStack(size_t(1) << 20, [] { std::exit(recurse(1 << 30)); }).ok();
      },
      ::testing::KilledBySignal(SIGSEGV), "tool: crashed in phase 'x{127}' .signal 11.");
  EXPECT_TRUE(reproducer().starts_with("# tool a\ninput\n# "));
}
#endif

TEST_F(CrashReportDeathTest, SaysNothingOnceItIsGone) {
  EXPECT_EXIT(
      {
        {
          const CrashReport report("tool", "# ", "tool a", "input");
        }
        raise(SIGABRT);
      },
      ::testing::KilledBySignal(SIGABRT), "^$");
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(CrashReportDeathTest, EndsWithoutAFolder) {
  ASSERT_EQ(setenv("TMPDIR", "/does/not/exist", 1), 0);
  EXPECT_EXIT(
      {
        const CrashReport report("tool", "# ", "tool a", "input");
        raise(SIGABRT);
      },
      ::testing::KilledBySignal(SIGABRT), "tool: crashed in phase 'start' .signal 6., which is a bug in tool\n$");
}

} // namespace
} // namespace tenon
