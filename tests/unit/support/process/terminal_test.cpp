// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/process/terminal.h"

#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace tenon {
namespace {

TEST(Terminal, PaintsTheWordBehindAPlaceAndNothingElse) {
  EXPECT_EQ(colouredMessages("a.ptx:1:2: error: [K-4] note: that\n"),
            "\033[1ma.ptx:1:2: \033[0m\033[1;31merror: \033[0m[K-4] note: that\n");
  EXPECT_EQ(colouredMessages("fix: do it"), "\033[1;32mfix: \033[0mdo it");
  EXPECT_EQ(colouredMessages("tenon-x: warning: w\ntenon-x: remark: r\nnote: n\n"),
            "\033[1mtenon-x: \033[0m\033[1;35mwarning: \033[0mw\n\033[1mtenon-x: \033[0m\033[1;34mremark: \033[0mr\n"
            "\033[1;36mnote: \033[0mn\n");
  EXPECT_EQ(colouredMessages("an error: of words\n\n  x.note: no place\n"),
            "an error: of words\n\n  x.note: no place\n");
}

TEST(Terminal, PaintsHeadingsOfHelp) {
  EXPECT_EQ(colouredHelp("usage: x\n\nexit status:\n  0   done\nA sentence that ends so:\n"),
            "\033[1musage:\033[0m x\n\n\033[1mexit status:\033[0m\n  0   done\nA sentence that ends so:\n");
}

/// A terminal of this process's own.
class PseudoTerminal : public ::testing::Test {
protected:
  void SetUp() override {
    const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0)
      GTEST_SKIP() << "the system gives no pseudo terminal";
    stream_ = ::fopen(::ptsname(master), "w");
    if (!stream_)
      GTEST_SKIP() << "the system's pseudo terminal does not open";
    ::setenv("TERM", "xterm", 1);
    ::unsetenv("NO_COLOR");
  }
  void TearDown() override {
    if (stream_)
      std::fclose(stream_);
  }
  std::FILE *stream_ = nullptr;
};

TEST_F(PseudoTerminal, TakesColoursUnlessSomebodySaysNo) {
  EXPECT_TRUE(takesColours(stream_));
  ::setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(takesColours(stream_)) << "set to nothing is not set (no-color.org)";
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(takesColours(stream_));
  EXPECT_TRUE(isTerminal(stream_));
  ::unsetenv("NO_COLOR");
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(takesColours(stream_));
  EXPECT_FALSE(isTerminal(stream_));
}

TEST(Terminal, AFileTakesNoColours) {
  ::setenv("TERM", "xterm", 1);
  std::FILE *file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  EXPECT_FALSE(takesColours(file));
  printMessages(file, "x: error: y\n");
  std::rewind(file);
  char text[64] = {};
  EXPECT_EQ(std::fread(text, 1, sizeof text - 1, file), 12u);
  EXPECT_STREQ(text, "x: error: y\n");
  std::fclose(file);
}

} // namespace
} // namespace tenon
