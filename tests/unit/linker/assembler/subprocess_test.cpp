// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/assembler/subprocess.h"

#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

TEST(MemoryFile, HoldsWhatIsPutIn) {
  const std::string text(100000, 'x');
  Result<MemoryFile> file = MemoryFile::create("test", text);
  ASSERT_TRUE(file.ok()) << file.status().message();
  Result<std::string> contents = file->contents();
  ASSERT_TRUE(contents.ok());
  EXPECT_EQ(*contents, text);
  MemoryFile moved = file.take();
  EXPECT_EQ(*moved.contents(), text);
}

TEST(Subprocess, PassesArgumentsAsTheyAreAndKeepsTheOrderOfOutput) {
  Result<ProcessResult> result =
      runProcess({"/bin/sh", "-c", "echo \"$1\"; echo second >&2; cat; exit 3", "sh", "a b;$(c)'\""}, {});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->exitStatus, 3);
  EXPECT_EQ(result->output, "a b;$(c)'\"\nsecond\n");
}

TEST(Subprocess, OpensFilesInTheChild) {
  Result<MemoryFile> in = MemoryFile::create("in", "hello\n");
  Result<MemoryFile> out = MemoryFile::create("out");
  ASSERT_TRUE(in.ok() && out.ok());
  const MemoryFile *const files[] = {&*in, &*out};
  Result<ProcessResult> result =
      runProcess({"/bin/sh", "-c", "cat \"$1\" > \"$2\"", "sh", childPath(0), childPath(1)}, files);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->output, "");
  EXPECT_EQ(*out->contents(), "hello\n");
}

TEST(Subprocess, TellsASignal) {
  Result<ProcessResult> result = runProcess({"/bin/sh", "-c", "kill -9 $$"}, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->exitStatus, 128 + 9);
}

TEST(Subprocess, SaysWhyItCannotStart) {
  Result<ProcessResult> result = runProcess({"/no/such/program"}, {});
  EXPECT_EQ(result.status().code(), StatusCode::Unavailable);
  EXPECT_EQ(result.status().message(), "cannot run '/no/such/program': No such file or directory");
}

} // namespace
} // namespace tenon::linker
