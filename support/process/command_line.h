// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options of a tool: declared once, parsed, and printed by --help. The tools' habits: `--name=VALUE` or `--name VALUE`,
// `-o FILE`, `--` ends the options, `-` is a positional argument, an unknown option is refused with the nearest known
// one. `--help=FORMAT` prints the same table as a manual page, a section of the reference, or a shell's
// completions (tool_help.h); --version says what the tool is made of.
//
//   CommandLine options("tenon-link", "MANIFEST.json [OBJECT...] -o FILE", "Links ...");
//   options.flag("explain", &explain, "print why each variant is chosen or refused");
//   options.text("o", "FILE", &output, "write the executable here");
//   options.list("object-search-path", "DIR", &paths, "look for objects in DIR; may be given several times");
//   options.positional(&files);
//   options.example("tenon-link kernels.json -o kernels.tnx", "proves and links");
//   if (std::optional<int> status = options.parse(argc, argv))
//     return *status;
#pragma once

#include "support/process/tool_help.h"
#include "support/result.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

inline constexpr int kExitFailure = 1; // the work failed: bad input, no device
inline constexpr int kExitUsage = 2;   // the command line itself is wrong

/// Prints "tool: error: message" behind all that was printed before; returns kExitFailure.
int reportFailure(std::string_view tool, std::string_view message);

/// Ends a tool: `status`, or where what was printed has not all arrived (a full disk, a closed standard output), an
/// error and kExitFailure. A script that goes by the status would take half a result for a whole one.
int finishOutput(std::string_view tool, int status);

class Phases;

class CommandLine {
public:
  CommandLine(std::string tool, std::string usage, std::string description);

  // Names are given without dashes; one letter means `-o`, more mean `--name`. The pointers outlive parse(). No value
  // is empty, as a variable of a shell leaves it that nobody set, but where mayBeEmpty() says so.
  void flag(std::string name, bool *value, std::string help);
  /// The last one given wins.
  void text(std::string name, std::string valueName, std::string *value, std::string help);
  /// An option that may be repeated, kept in order.
  void list(std::string name, std::string valueName, std::vector<std::string> *values, std::string help);
  /// `--name`, which sets "", or `--name=VALUE`.
  void optionalText(std::string name, std::string valueName, std::optional<std::string> *value, std::string help);
  /// What the value of the option declared last may be, for completion; `isList`: several, with commas between them,
  /// none of them empty.
  void words(std::vector<std::string> words, bool isList = false);
  /// "" means something to the option declared last.
  void mayBeEmpty();
  /// -v, as every tool has it.
  void phases(Phases &phases);
  /// Another spelling of the option declared last; --help does not show it.
  void alias(std::string name);
  /// Arguments that are no options; without this call they are refused.
  void positional(std::vector<std::string> *values);

  // What --help teaches.
  void example(std::string command, std::string whatItDoes);
  void environment(std::string variable, std::string meaning);
  /// What an exit status means; 0, 1 and 2 have a meaning already, which this replaces.
  void exitStatus(int status, std::string meaning);
  /// Lines that --version prints behind the tool's own: versions of what it uses. Asked for only then.
  void versions(std::function<std::string()> lines);

  /// What parse() found, without printing anything: for tests and for callers with their own way of printing.
  struct Outcome {
    std::optional<int> exitStatus; // set: print the texts and leave with it
    std::string out;               // --help, --version
    std::string error;             // newline-terminated
  };
  Outcome evaluate(int argc, const char *const *argv) const;

  /// Parses and prints. Returns the exit status to leave with (0 after --help and --version, kExitUsage after an
  /// error), or nothing: go on.
  std::optional<int> parse(int argc, const char *const *argv) const;
  /// For tools whose options belong to a library: answers `--version` and `--help=FORMAT`, and leaves the rest alone.
  std::optional<int> parseQuestions(int argc, const char *const *argv) const;
  /// Prints "tool: error: message" and the usage line; returns kExitUsage.
  int usageError(std::string_view message) const;
  std::string help() const;
  ToolHelp table() const;

private:
  struct Option {
    HelpOption shown;
    bool *flag = nullptr;
    std::string *text = nullptr;
    std::optional<std::string> *optionalText = nullptr;
    std::vector<std::string> *list = nullptr;
    bool mayBeEmpty = false;
  };
  std::optional<Outcome> answer(std::string_view argument) const;
  std::optional<int> print(const Outcome &outcome) const;
  const Option *find(std::string_view name) const;
  std::string usageErrorText(std::string_view message) const;
  std::string unknownOption(std::string_view argument, std::string_view name) const;

  ToolHelp help_; // but for the options
  std::vector<Option> options_;
  std::function<std::string()> versions_;
  std::vector<std::string> *positional_ = nullptr;
};

} // namespace tenon
