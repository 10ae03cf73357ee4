// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One pass over argv. Nothing is printed before the whole line has been read, so `--help` works beside a wrong option.
#include "support/process/command_line.h"

#include "support/process/completions.h"
#include "support/process/phases.h"
#include "support/process/terminal.h"
#include "support/text/nearest_names.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace tenon {

CommandLine::CommandLine(std::string tool, std::string usage, std::string description) {
  help_.tool = std::move(tool);
  help_.usage = std::move(usage);
  help_.description = std::move(description);
  help_.exits = {{"0", "the work is done"},
                 {"1", "the work failed; what is wrong is on standard error"},
                 {"2", "the command line is wrong"}};
}

/// Whether commas are at an end of the list, or side by side.
static bool hasEmptyEntry(std::string_view list) {
  return list.starts_with(',') || list.ends_with(',') || list.find(",,") != std::string_view::npos;
}

void CommandLine::flag(std::string name, bool *value, std::string help) {
  options_.push_back({.shown = {.names = {std::move(name)}, .help = std::move(help)}, .flag = value});
}

void CommandLine::text(std::string name, std::string valueName, std::string *value, std::string help) {
  options_.push_back({.shown = {.names = {std::move(name)}, .valueName = std::move(valueName), .help = std::move(help)},
                      .text = value});
}

void CommandLine::optionalText(std::string name, std::string valueName, std::optional<std::string> *value,
                               std::string help) {
  options_.push_back({.shown = {.names = {std::move(name)},
                                .valueName = std::move(valueName),
                                .help = std::move(help),
                                .valueIsOptional = true},
                      .optionalText = value});
}

void CommandLine::list(std::string name, std::string valueName, std::vector<std::string> *values, std::string help) {
  options_.push_back({.shown = {.names = {std::move(name)},
                                .valueName = std::move(valueName),
                                .help = std::move(help),
                                .repeats = true},
                      .list = values});
}

void CommandLine::words(std::vector<std::string> words, bool isList) {
  options_.back().shown.words = std::move(words);
  options_.back().shown.valueIsList = isList;
}

void CommandLine::mayBeEmpty() {
  options_.back().mayBeEmpty = true;
}

void CommandLine::phases(Phases &phases) {
  flag("v", phases.verbose(), "print how long each phase took, on standard error");
}

void CommandLine::alias(std::string name) {
  options_.back().shown.names.push_back(std::move(name));
}

void CommandLine::positional(std::vector<std::string> *values) {
  positional_ = values;
}

void CommandLine::example(std::string command, std::string whatItDoes) {
  help_.examples.push_back({std::move(command), std::move(whatItDoes)});
}

void CommandLine::environment(std::string variable, std::string meaning) {
  for (const ToolHelp::Row &row : help_.environment)
    if (row.name == variable)
      return; // groups of options share some
  help_.environment.push_back({std::move(variable), std::move(meaning)});
}

void CommandLine::exitStatus(int status, std::string meaning) {
  const std::string name = std::to_string(status);
  auto row = std::ranges::find(help_.exits, name, &ToolHelp::Row::name);
  if (row == help_.exits.end())
    row = help_.exits.insert(row, {name, {}});
  row->meaning = std::move(meaning);
}

void CommandLine::versions(std::function<std::string()> lines) {
  versions_ = std::move(lines);
}

const CommandLine::Option *CommandLine::find(std::string_view name) const {
  for (const Option &option : options_)
    if (std::ranges::find(option.shown.names, name) != option.shown.names.end())
      return &option;
  return nullptr;
}

ToolHelp CommandLine::table() const {
  ToolHelp table = help_;
  for (const Option &option : options_)
    table.options.push_back(option.shown);
  table.options.push_back({.names = {"help"},
                           .valueName = "FORMAT",
                           .help = "print this text; as man, markdown, or the completions of bash, zsh or fish",
                           .words = {"text", "man", "markdown", "bash", "zsh", "fish"},
                           .valueIsOptional = true});
  table.options.push_back({.names = {"version"}, .help = "print the version, and those of what the tool uses"});
  return table;
}

std::string CommandLine::help() const {
  return helpText(table());
}

std::string CommandLine::usageErrorText(std::string_view message) const {
  return concat(help_.tool, ": error: ", message, "\nusage: ", help_.tool, " ", help_.usage, "\n");
}

int CommandLine::usageError(std::string_view message) const {
  printMessages(stderr, usageErrorText(message));
  return kExitUsage;
}

std::string CommandLine::unknownOption(std::string_view argument, std::string_view name) const {
  std::vector<std::string> known = {"help", "version"};
  for (const Option &option : options_)
    known.insert(known.end(), option.shown.names.begin(), option.shown.names.end());
  std::string message = concat("unknown option '", argument, "'");
  std::vector<std::string> near = nearestNames(name, known, 1);
  if (!near.empty() && name.size() > 1)
    message += concat("; did you mean '", dashedOption(near.front()), "'?");
  return message;
}

/// What --help and --version print.
std::optional<CommandLine::Outcome> CommandLine::answer(std::string_view argument) const {
  auto done = [](std::string out) { return Outcome{.exitStatus = 0, .out = std::move(out), .error = {}}; };
  if (argument == "--version")
    return done(concat(help_.tool, " ", TENON_VERSION, "\n", versions_ ? versions_() : std::string()));
  if (argument == "--help" || argument == "-h" || argument == "--help=text")
    return done(help());
  if (!argument.starts_with("--help="))
    return std::nullopt;
  const std::string_view format = argument.substr(argument.find('=') + 1);
  if (format == "man")
    return done(manualPage(table(), TENON_VERSION));
  if (format == "markdown")
    return done(markdownHelp(table()));
  if (format == "bash")
    return done(bashCompletion(table()));
  if (format == "zsh")
    return done(zshCompletion(table()));
  if (format == "fish")
    return done(fishCompletion(table()));
  return Outcome{.exitStatus = kExitUsage,
                 .out = {},
                 .error = usageErrorText(concat("--help=", format, ": wanted text, man, markdown, bash, zsh or fish"))};
}

CommandLine::Outcome CommandLine::evaluate(int argc, const char *const *argv) const {
  auto fail = [this](std::string_view message) {
    return Outcome{.exitStatus = kExitUsage, .out = {}, .error = usageErrorText(message)};
  };
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i)
    if (std::optional<Outcome> outcome = answer(argv[i]))
      return *std::move(outcome);

  bool optionsEnded = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!optionsEnded && argument == "--") {
      optionsEnded = true;
      continue;
    }
    if (optionsEnded || argument.size() < 2 || argument[0] != '-') {
      if (!positional_)
        return fail(concat("unexpected argument '", argument, "'"));
      positional_->emplace_back(argument);
      continue;
    }

    std::string_view name = argument.substr(argument[1] == '-' ? 2 : 1);
    std::optional<std::string_view> value;
    if (size_t equals = name.find('='); equals != std::string_view::npos) {
      value = name.substr(equals + 1);
      name = name.substr(0, equals);
    }
    // `-name` and `--o` are no spellings of ours.
    const Option *option = (argument[1] == '-') == (name.size() > 1) ? find(name) : nullptr;
    if (!option)
      return fail(unknownOption(argument.substr(0, argument.find('=')), name));
    if (option->flag) {
      if (value && *value != "true" && *value != "false")
        return fail(concat("option '", dashedOption(name), "' takes no value, found '", *value, "'"));
      *option->flag = !value || *value == "true";
      continue;
    }
    if (option->optionalText) {
      *option->optionalText = std::string(value.value_or(""));
      continue;
    }
    if (!value) {
      if (i + 1 == argc)
        return fail(concat("option '", dashedOption(name), "' needs a value (", option->shown.valueName, ")"));
      value = argv[++i];
    }
    if (value->empty() && !option->mayBeEmpty)
      return fail(concat("option '", dashedOption(name), "' needs a value (", option->shown.valueName, "), found ''"));
    if (option->shown.valueIsList && hasEmptyEntry(*value))
      return fail(concat("option '", dashedOption(name), "' has an empty entry, found '", *value, "'; wanted ",
                         option->shown.valueName, " without a comma too many"));
    if (option->text)
      *option->text = *value;
    else
      option->list->emplace_back(*value);
  }
  return {};
}

std::optional<int> CommandLine::print(const Outcome &outcome) const {
  const std::string out = takesColours(stdout) ? colouredHelp(outcome.out) : outcome.out;
  std::fwrite(out.data(), 1, out.size(), stdout);
  printMessages(stderr, outcome.error);
  return outcome.exitStatus ? std::optional(finishOutput(help_.tool, *outcome.exitStatus)) : std::nullopt;
}

/// A standard stream that the caller has closed: its number would be the next file's that is opened, which then got
/// what is printed. /dev/null takes the number; as one to read from, so that what is printed is still an error.
static void holdStandardStreams() {
  for (int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(number, F_GETFD) < 0 && errno == EBADF)
      (void)open("/dev/null",
                 number == STDERR_FILENO ? O_WRONLY : O_RDONLY); // the lowest number that is free: this one
}

std::optional<int> CommandLine::parse(int argc, const char *const *argv) const {
  holdStandardStreams();
  return print(evaluate(argc, argv));
}

std::optional<int> CommandLine::parseQuestions(int argc, const char *const *argv) const {
  for (int i = 1; i < argc; ++i)
    if (const std::string_view argument = argv[i]; argument == "--version" || argument.starts_with("--help="))
      if (const std::optional<Outcome> outcome = answer(argument))
        return print(*outcome);
  return std::nullopt;
}

int finishOutput(std::string_view tool, int status) {
  errno = 0;
  const bool isWhole = std::fflush(stdout) == 0 && !std::ferror(stdout);
  if (isWhole)
    return status;
  const int why = errno; // of a write long ago it is not known
  printMessages(stderr, concat(tool, ": error: cannot write to standard output", why ? ": " : "",
                               why ? std::strerror(why) : "", "\n"));
  return status ? status : kExitFailure;
}

int reportFailure(std::string_view tool, std::string_view message) {
  std::fflush(stdout);
  printMessages(stderr, concat(tool, ": error: ", message, "\n"));
  return kExitFailure;
}

} // namespace tenon
