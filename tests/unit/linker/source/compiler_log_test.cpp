// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/source/compiler_log.h"

#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

TEST(CompilerLog, ReadsTheDeviceFrontEnd) {
  std::vector<CompilerMessage> found = parseCompilerLog("k.cu(3): error: identifier \"y\" is undefined\n"
                                                        "  y = 1;\n"
                                                        "  ^\n"
                                                        "\n"
                                                        "k.cu(7): warning #550-D: parameter \"x\" was set\n"
                                                        "  x = 1;\n"
                                                        "\n"
                                                        "Remark: The warnings can be suppressed\n"
                                                        "1 error detected in the compilation of \"k.cu\".\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].severity, Severity::Error);
  EXPECT_EQ(found[0].where, (SourceLocation{"k.cu", 3, 0}));
  EXPECT_EQ(found[0].text, "identifier \"y\" is undefined\n  y = 1;\n  ^");
  EXPECT_EQ(found[1].severity, Severity::Warning);
  EXPECT_EQ(found[1].where.line, 7u);
}

TEST(CompilerLog, ReadsTheHostCompiler) {
  std::vector<CompilerMessage> found = parseCompilerLog("In file included from k.cu:1:\n"
                                                        "a b/h.h:1:10: fatal error: nope.h: No such file\n"
                                                        "    1 | #include \"nope.h\"\n"
                                                        "compilation terminated.\n"
                                                        "k.cu:4: warning: old\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].where, (SourceLocation{"a b/h.h", 1, 10}));
  EXPECT_EQ(found[0].text, "nope.h: No such file\n    1 | #include \"nope.h\"");
  EXPECT_EQ(found[1].where, (SourceLocation{"k.cu", 4, 0}));
}

TEST(CompilerLog, ReadsNvccItself) {
  std::vector<CompilerMessage> found = parseCompilerLog("nvcc fatal   : Unsupported gpu architecture 'compute_61'\n"
                                                        "nvcc warning : old targets\n"
                                                        "clang: error: cannot find CUDA installation\n");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].text, "Unsupported gpu architecture 'compute_61'");
  EXPECT_FALSE(found[0].where.known());
  EXPECT_EQ(found[1].severity, Severity::Warning);
  EXPECT_EQ(found[2].severity, Severity::Error);
}

TEST(CompilerLog, LeavesOutWhatIsNoMessage) {
  EXPECT_TRUE(parseCompilerLog("").empty());
  EXPECT_TRUE(parseCompilerLog("s_cu\n\n  x\nerror\n: error: x\n:1:2:3:\n(((\nk.cu(1): note: x\n").empty());
}

} // namespace
} // namespace tenon::linker
