// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/kernel_output.h"

#include "tests/unit/runtime/call_fixture.h"

#include <unistd.h>

namespace tenon::runtime {

TEST(KernelOutput, PrefixesEveryLine) {
  EXPECT_EQ(prefixLines("", "add"), "");
  EXPECT_EQ(prefixLines("a\n\nb", "add"), "[add] a\n[add] \n[add] b\n");
}

TEST(KernelOutput, CapturesWhatIsWrittenToTheDescriptor) {
  testing::internal::CaptureStdout();
  CapturedStream stream(stdout);
  std::printf("before\n");
  ASSERT_OK(stream.capture());
  EXPECT_EQ(stream.capture().code(), StatusCode::FailedPrecondition);
  std::printf("buffered\n"); // through the stream, as a driver may, or past it
  std::fflush(stdout);
  ASSERT_EQ(write(STDOUT_FILENO, "raw\n", 4), 4);
  const std::string large(300000, 'x'); // more than a pipe holds
  std::fputs(large.c_str(), stdout);
  EXPECT_EQ(stream.release(), "buffered\nraw\n" + large);
  EXPECT_EQ(stream.release(), "");
  std::printf("after\n");
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "before\nafter\n");
}

TEST(KernelOutput, GivesTheStreamBackWhenItEnds) {
  testing::internal::CaptureStdout();
  {
    CapturedStream stream(stdout);
    ASSERT_OK(stream.capture());
    std::printf("lost\n");
  }
  std::printf("kept\n");
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "kept\n");
}

using KernelOutputCallTest = CallTest;

TEST_F(KernelOutputCallTest, NamesTheExportThatPrinted) {
  load({addAndScale()});
  fake.kernels["add"] = [](const FakeLaunch &) { std::printf("one\ntwo\n"); };
  fake.kernels["scale"] = [](const FakeLaunch &) {
    std::printf("three");
    std::fprintf(stderr, "assertion failed\n");
  };
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  KernelOutput output;
  CallOptions options;
  options.observer = &output;
  auto results = program->call(0, std::vector<Value>{vector({1}), vector({2}), scalar(1)}, options);
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "[add] one\n[add] two\n[scale] three\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "[scale] assertion failed\n");
  ASSERT_OK(results.status());
  ASSERT_OK(output.takeStatus());
}

} // namespace tenon::runtime
