// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/trace/source_line.h"

#include "ptx/parse/parser.h"
#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

TEST(SourceLine, IsThatOfTheLastLocBefore) {
  Diagnostics diagnostics;
  ptx::Module module = ptx::parse(
      std::make_shared<SourceFile>(
          "a.ptx", testing::ptxModule(".file 1 \"a.cu\"\n.file 2 \"b.h\"\n.entry k() { membar.cta;\n.loc 1 3 4\n"
                                      "membar.cta; membar.gl;\n.loc 2 9 1\nmembar.cta;\n.loc 1 0 0\nmembar.cta;\n"
                                      ".loc 7 1 1\nret; }\n")),
      diagnostics);
  ASSERT_EQ(diagnostics.toString(), "");
  auto line = [&](uint32_t instruction) {
    std::optional<SourceLocation> place = sourceLine(module, module.functions[0], instruction);
    return place ? place->toString() : std::string("none");
  };
  EXPECT_EQ(line(0), "none") << "before the first";
  EXPECT_EQ(line(1), "a.cu:3:4");
  EXPECT_EQ(line(2), "a.cu:3:4");
  EXPECT_EQ(line(3), "b.h:9:1");
  EXPECT_EQ(line(4), "none") << "line 0";
  EXPECT_EQ(line(5), "none") << "a file that is not declared";
}

} // namespace
} // namespace tenon::linker
