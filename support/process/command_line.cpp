// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One pass over argv. Nothing is printed before the whole line has been read, so `--help` works beside a wrong option.
#include "support/process/command_line.h"

#include "support/text/nearest_names.h"

#include <algorithm>
#include <cstdio>

namespace tenon {

static std::string dashed(std::string_view name) {
  return concat(name.size() == 1 ? "-" : "--", name);
}

CommandLine::CommandLine(std::string tool, std::string usage, std::string description)
    : tool_(std::move(tool)), usage_(std::move(usage)), description_(std::move(description)) {}

void CommandLine::flag(std::string name, bool *value, std::string help) {
  options_.push_back({.names = {std::move(name)}, .help = std::move(help), .flag = value});
}

void CommandLine::text(std::string name, std::string valueName, std::string *value, std::string help) {
  options_.push_back(
      {.names = {std::move(name)}, .valueName = std::move(valueName), .help = std::move(help), .text = value});
}

void CommandLine::list(std::string name, std::string valueName, std::vector<std::string> *values, std::string help) {
  options_.push_back(
      {.names = {std::move(name)}, .valueName = std::move(valueName), .help = std::move(help), .list = values});
}

void CommandLine::alias(std::string name) {
  options_.back().names.push_back(std::move(name));
}

void CommandLine::positional(std::vector<std::string> *values) {
  positional_ = values;
}

const CommandLine::Option *CommandLine::find(std::string_view name) const {
  for (const Option &option : options_)
    if (std::find(option.names.begin(), option.names.end(), name) != option.names.end())
      return &option;
  return nullptr;
}

std::string CommandLine::help() const {
  std::string text = concat("usage: ", tool_, " ", usage_, "\n\n", description_, "\n\noptions:\n");
  auto line = [&text](std::string head, std::string_view help) {
    constexpr size_t kColumn = 32;
    head.insert(0, "  ");
    if (head.size() + 2 > kColumn)
      head.append("\n").append(kColumn, ' ');
    else
      head.resize(kColumn, ' ');
    text.append(head);
    // A line break in the help keeps the column.
    for (char c : help) {
      text += c;
      if (c == '\n')
        text.append(kColumn, ' ');
    }
    text += '\n';
  };
  for (const Option &option : options_) {
    const std::string &name = option.names.front();
    std::string head = dashed(name);
    if (!option.valueName.empty())
      head += concat(name.size() == 1 ? " " : "=", option.valueName);
    line(head, option.help);
  }
  line("--help", "print this text");
  line("--version", "print the version");
  return text;
}

std::string CommandLine::usageErrorText(std::string_view message) const {
  return concat(tool_, ": error: ", message, "\nusage: ", tool_, " ", usage_, "\n");
}

int CommandLine::usageError(std::string_view message) const {
  std::fputs(usageErrorText(message).c_str(), stderr);
  return kExitUsage;
}

std::string CommandLine::unknownOption(std::string_view argument, std::string_view name) const {
  std::vector<std::string> known = {"help", "version"};
  for (const Option &option : options_)
    known.insert(known.end(), option.names.begin(), option.names.end());
  std::string message = concat("unknown option '", argument, "'");
  std::vector<std::string> near = nearestNames(name, known, 1);
  if (!near.empty() && name.size() > 1)
    message += concat("; did you mean '", dashed(near.front()), "'?");
  return message;
}

CommandLine::Outcome CommandLine::evaluate(int argc, const char *const *argv) const {
  auto fail = [this](std::string_view message) {
    return Outcome{.exitStatus = kExitUsage, .out = {}, .error = usageErrorText(message)};
  };
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    if (std::string_view(argv[i]) == "--help" || std::string_view(argv[i]) == "-h")
      return {.exitStatus = 0, .out = help(), .error = {}};
    if (std::string_view(argv[i]) == "--version")
      return {.exitStatus = 0, .out = concat(tool_, " ", TENON_VERSION, "\n"), .error = {}};
  }

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
        return fail(concat("option '", dashed(name), "' takes no value, found '", *value, "'"));
      *option->flag = !value || *value == "true";
      continue;
    }
    if (!value) {
      if (i + 1 == argc)
        return fail(concat("option '", dashed(name), "' needs a value (", option->valueName, ")"));
      value = argv[++i];
    }
    if (option->text)
      *option->text = *value;
    else
      option->list->emplace_back(*value);
  }
  return {};
}

std::optional<int> CommandLine::parse(int argc, const char *const *argv) const {
  Outcome outcome = evaluate(argc, argv);
  std::fputs(outcome.out.c_str(), stdout);
  std::fputs(outcome.error.c_str(), stderr);
  return outcome.exitStatus;
}

} // namespace tenon
