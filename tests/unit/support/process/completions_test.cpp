// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the shells make of these texts is tests/lit/tools/completions.test.
#include "support/process/completions.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

ToolHelp sample() {
  ToolHelp help;
  help.tool = "tenon-x-y";
  help.options = {
      {.names = {"o"}, .valueName = "FILE", .help = "write here"},
      {.names = {"dir", "folder"}, .valueName = "DIR", .help = "it's [here]: (default)", .repeats = true},
      {.names = {"target"}, .valueName = "ARCH,..", .help = "for", .words = {"sm_80", "sm_90"}, .valueIsList = true},
      {.names = {"images"}, .valueName = "KINDS", .help = "which; or all", .words = {"ptx", "cubin"}},
      {.names = {"count"}, .valueName = "N", .help = "how often"},
      {.names = {"strict"}, .help = "refuse"}};
  return help;
}

void expectPart(const std::string &text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << "not there: " << part << "\nin:\n" << text;
}

TEST(Completions, Bash) {
  const std::string text = bashCompletion(sample());
  expectPart(text, "_tenon_x_y() {\n");
  expectPart(text, "    -o) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); return ;;\n");
  expectPart(
      text, "    --dir|--folder) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$word\"); return ;;\n");
  expectPart(text, "-W 'sm_80 sm_90' -- \"${word##*,}\"");
  expectPart(text, "    --images) COMPREPLY=($(compgen -W 'ptx cubin' -- \"$word\")); return ;;\n");
  expectPart(text, "compgen -W '-o --dir= --target= --images= --count= --strict' -- \"$word\"");
  expectPart(text, "complete -F _tenon_x_y tenon-x-y\n");
}

TEST(Completions, Zsh) {
  const std::string text = zshCompletion(sample());
  EXPECT_EQ(text.find("#compdef tenon-x-y\n"), 0u);
  expectPart(text, "  '-o+[write here]:value:_files' \\\n");
  expectPart(text, "  '*--dir=[it'\\''s \\[here\\]\\:]:value:_files -/' \\\n");
  expectPart(text, "  '--target=[for]:value:_sequence compadd - sm_80 sm_90' \\\n");
  expectPart(text, "  '--images=[which]:value:(ptx cubin)' \\\n");
  expectPart(text, "  '--strict[refuse]' \\\n  '*:file:_files'\n");
}

TEST(Completions, Fish) {
  const std::string text = fishCompletion(sample());
  expectPart(text, "complete -c tenon-x-y -s o -r -F -d 'write here'\n");
  expectPart(text, "complete -c tenon-x-y -l dir -x -a '(__fish_complete_directories)' -d 'it\\'s [here]:'\n");
  expectPart(text, "complete -c tenon-x-y -l target -x -a '(__fish_append , sm_80 sm_90)' -d 'for'\n");
  expectPart(text, "complete -c tenon-x-y -l images -x -a 'ptx cubin' -d 'which'\n");
  expectPart(text, "complete -c tenon-x-y -l count -x -d 'how often'\n");
  expectPart(text, "complete -c tenon-x-y -l strict -d 'refuse'\n");
}

} // namespace
} // namespace tenon
