// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/source/make_rule.h"

#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

using Files = std::vector<std::string>;

TEST(MakeRule, ReadsWhatNvccWrites) {
  EXPECT_EQ(readMakeRule("/proc/self/fd/3 : a.cu \\\n    inc/h.cuh \\\n    /usr/include/x.h\n"),
            (Files{"a.cu", "inc/h.cuh", "/usr/include/x.h"}));
  EXPECT_EQ(readMakeRule("o: a b\nc: d\n"), (Files{"a", "b"})) << "the first rule only";
  EXPECT_EQ(readMakeRule("o:\\\r\n a\r\n"), Files{"a"});
}

TEST(MakeRule, ReadsEscapes) {
  EXPECT_EQ(readMakeRule("o: my\\ file.cu a\\#b c$$d e\\\\f"), (Files{"my file.cu", "a#b", "c$d", "e\\f"}));
}

TEST(MakeRule, ReadsNothingOutOfNothing) {
  EXPECT_EQ(readMakeRule(""), Files{});
  EXPECT_EQ(readMakeRule("o"), Files{});
  EXPECT_EQ(readMakeRule("o:"), Files{});
  EXPECT_EQ(readMakeRule("\\"), Files{});
}

TEST(MakeRule, WritesWhatItReads) {
  const Files files = {"my file.cu", "a#b", "c$d", "/usr/x.h"};
  Files twice = files;
  twice.push_back("c$d");
  const std::string text = writeMakeRule("out put.tnx", twice);
  EXPECT_EQ(readMakeRule(text), files);
  EXPECT_TRUE(text.starts_with("out\\ put.tnx: \\\n  my\\ file.cu")) << text;
  EXPECT_NE(text.find("\n/usr/x.h:\n"), std::string::npos) << text;
}

} // namespace
} // namespace tenon::linker
