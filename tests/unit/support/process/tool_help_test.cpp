// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/process/tool_help.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

ToolHelp sample() {
  ToolHelp help;
  help.tool = "tenon-x";
  help.usage = "FILE -o FILE";
  help.description = "Does x to files. And more.\nLike this:\n  x = {\n    .y = 'z'\n  }\n.hidden files too.";
  help.options = {
      {.names = {"o"}, .valueName = "FILE", .help = "write here"},
      {.names = {"target", "iree-target"}, .valueName = "ARCH,..", .help = "for these\nor those", .repeats = true},
      {.names = {"ptx"}, .valueName = "EXPORT", .help = "print a|b", .valueIsOptional = true}};
  help.examples = {{"tenon-x in -o out", "does x"}};
  help.environment = {{"NO_COLOR", "no colours"}};
  help.exits = {{"0", "done"}, {"1", "failed"}};
  return help;
}

TEST(ToolHelp, SpellsOptionsAsTheyAreTyped) {
  const ToolHelp help = sample();
  EXPECT_EQ(help.options[0].spelling(), "-o FILE");
  EXPECT_EQ(help.options[1].spelling(), "--target=ARCH,..");
  EXPECT_EQ(help.options[2].spelling(), "--ptx[=EXPORT]");
}

TEST(ToolHelp, SummaryIsTheFirstSentence) {
  EXPECT_EQ(sample().summary(), "does x to files");
  ToolHelp other = sample();
  other.description = "MLIR in, program out";
  EXPECT_EQ(other.summary(), "MLIR in, program out") << "an acronym stays";
}

TEST(ToolHelp, TextHasEverySectionInOrder) {
  EXPECT_EQ(helpText(sample()),
            "usage: tenon-x FILE -o FILE\n\n"
            "Does x to files. And more.\nLike this:\n  x = {\n    .y = 'z'\n  }\n.hidden files too.\n"
            "\nexamples:\n  tenon-x in -o out\n      does x\n"
            "\noptions:\n"
            "  -o FILE                       write here\n"
            "  --target=ARCH,..              for these\n"
            "                                or those\n"
            "  --ptx[=EXPORT]                print a|b\n"
            "\nenvironment:\n  NO_COLOR                      no colours\n"
            "\nexit status:\n  0   done\n  1   failed\n");
}

TEST(ToolHelp, ManualPageHasNoLineThatTroffTakesForACommand) {
  const std::string page = manualPage(sample(), "0.1.0");
  EXPECT_EQ(page.find(".TH TENON-X 1 \"\" \"Tenon 0.1.0\""), 0u);
  EXPECT_NE(page.find("tenon\\-x \\- does x to files\n"), std::string::npos) << page;
  EXPECT_NE(page.find(".nf\n  x = {\n    .y = 'z'\n  }\n.fi\n\\&.hidden files too.\n"), std::string::npos) << page;
  EXPECT_NE(page.find(".B \\-\\-target=ARCH,..\n"), std::string::npos) << page;
  EXPECT_NE(page.find("Also \\fB\\-\\-iree\\-target\\fR.\n"), std::string::npos) << page;
  EXPECT_NE(page.find(".SH EXIT STATUS\n.TP\n.B 0\ndone\n"), std::string::npos) << page;
}

TEST(ToolHelp, MarkdownEscapesTheBarsOfATable) {
  const std::string text = markdownHelp(sample());
  EXPECT_NE(text.find("| `--ptx[=EXPORT]` | print a\\|b |\n"), std::string::npos) << text;
  EXPECT_NE(text.find("| for these or those; also `--iree-target` |\n"), std::string::npos) << text;
  EXPECT_NE(text.find("```text\nx = {\n  .y = 'z'\n}\n```\n"), std::string::npos) << text;
}

} // namespace
} // namespace tenon
