// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a tool says about itself, as a table, and the texts made from it: --help, the manual page, the reference in
// docs/ and (completions.h) what shells complete. A tool writes its table once, with CommandLine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon {

struct HelpOption {
  std::vector<std::string> names; // without dashes; the first is shown
  std::string valueName;          // empty: it takes none
  std::string help;               // lines
  std::vector<std::string> words; // what its value may be, for completion
  bool valueIsList = false;       // of words with commas between them
  bool valueIsOptional = false;   // --name, or --name=VALUE
  bool repeats = false;

  /// As it is typed: "--target=ARCH,..", "-o FILE", "--ptx[=EXPORT]".
  std::string spelling() const;
};

struct ToolHelp {
  struct Row {
    std::string name, meaning;
  };
  std::string tool, usage, description;
  std::vector<HelpOption> options; // --help and --version among them
  std::vector<Row> examples;       // a command, and what it does
  std::vector<Row> exits, environment;

  /// The description's first sentence, as it stands behind a name: no capital, no full stop.
  std::string summary() const;
};

/// "-o", "--output".
std::string dashedOption(std::string_view name);

std::string helpText(const ToolHelp &help);
/// For man(1), in its macros. @param version of the tool
std::string manualPage(const ToolHelp &help, std::string_view version);
/// A section of a Markdown page, without a title.
std::string markdownHelp(const ToolHelp &help);

} // namespace tenon
