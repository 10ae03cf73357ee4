// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/bridge/excerpts.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

namespace tenon::compiler::bridge {
namespace {

/// What is printed of an error at `offset` of the first line.
std::string printed(const std::string &text, size_t offset) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "a.mlir"), llvm::SMLoc());
  shortenExcerpts(sources);
  llvm::errs().enable_colors(false);
  testing::internal::CaptureStderr();
  const char *begin = sources.getMemoryBuffer(sources.getMainFileID())->getBufferStart();
  sources.PrintMessage(llvm::errs(), llvm::SMLoc::getFromPointer(begin + offset), llvm::SourceMgr::DK_Error, "this");
  return testing::internal::GetCapturedStderr();
}

std::string dots(size_t count) {
  return std::string(count, '.');
}
std::string spaces(size_t count) {
  return std::string(count, ' ');
}

TEST(Excerpts, ShortLinesAreWhole) {
  EXPECT_EQ(printed("abc def\nghi\n", 4), "a.mlir:1:5: error: this\nabc def\n    ^\n");
  EXPECT_EQ(printed(std::string(kLongestLine, 'a') + "\n", 0),
            "a.mlir:1:1: error: this\n" + std::string(kLongestLine, 'a') + "\n^\n");
}

TEST(Excerpts, OfLongLinesWhatIsAroundThePlace) {
  const std::string start(5000, 'a'), end(5000, 'c');
  const size_t shown = kLongestLine / 2;
  EXPECT_EQ(printed(start + "b" + end + "\n", 5000),
            "a.mlir:1:5001: error: this\n..." + std::string(kBeforePlace, 'a') + "b" +
                std::string(shown - kBeforePlace - 1, 'c') + "...\n" + spaces(3 + kBeforePlace) + "^\n");
  EXPECT_EQ(printed("b" + end + "\n", 0), "a.mlir:1:1: error: this\nb" + std::string(shown - 1, 'c') + "...\n^\n");
  EXPECT_EQ(printed(start + "b\n", 5000), "a.mlir:1:5001: error: this\n..." + std::string(kBeforePlace, 'a') + "b\n" +
                                              spaces(3 + kBeforePlace) + "^\n");
  // The place behind the last character.
  EXPECT_EQ(printed(start + "\n", 5000), "a.mlir:1:5001: error: this\n..." + std::string(kBeforePlace, 'a') + "\n" +
                                             spaces(3 + kBeforePlace) + "^\n");
}

TEST(Excerpts, CharactersStayWhole) {
  // Two bytes and one column each; the excerpt would begin in the middle of one.
  std::string start;
  for (int i = 0; i < 500; ++i)
    start += "\u00e4";
  const std::string found = printed("x" + start + "y" + dots(10) + "\n", 1001);
  std::string before;
  for (unsigned i = 0; i < kBeforePlace / 2; ++i)
    before += "\u00e4";
  EXPECT_EQ(found,
            "a.mlir:1:1002: error: this\n..." + before + "y" + dots(10) + "\n" + spaces(3 + kBeforePlace / 2) + "^\n");
  EXPECT_EQ(printed(start + std::string(500, '\t') + "y" + "\n", 1500).find('\t'), std::string::npos);
}

} // namespace
} // namespace tenon::compiler::bridge
