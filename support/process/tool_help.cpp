// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/process/tool_help.h"

#include "support/status.h"

#include <algorithm>
#include <cctype>

namespace tenon {
namespace {

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (true) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return lines;
    text.remove_prefix(end + 1);
  }
}

/// Text for troff: a backslash, a hyphen that is typed, and a dot or a quote that begins a line are no commands.
std::string roff(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c == '.' || c == '\'') && (i == 0 || text[i - 1] == '\n'))
      out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

/// Paragraphs as they are, and lines that are indented as they stand.
std::string roffParagraphs(std::string_view text) {
  std::string out;
  bool verbatim = false;
  for (std::string_view line : linesOf(text)) {
    const bool indented = line.starts_with("  ");
    if (indented != verbatim)
      out += indented ? ".PP\n.nf\n" : ".fi\n";
    verbatim = indented;
    out += line.empty() ? ".PP\n" : roff(line) + "\n";
  }
  return verbatim ? out + ".fi\n" : out;
}

std::string markdownParagraphs(std::string_view text) {
  std::string out;
  bool verbatim = false;
  for (std::string_view line : linesOf(text)) {
    const bool indented = line.starts_with("  ");
    if (indented != verbatim)
      out += indented ? "\n```text\n" : "```\n\n";
    verbatim = indented;
    out += concat(indented ? line.substr(2) : line, "\n");
  }
  return verbatim ? out + "```\n" : out;
}

/// One line of a Markdown table.
std::string cell(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c == '|')
      out += "\\|";
    else
      out += c == '\n' ? ' ' : c;
  return out;
}

} // namespace

std::string dashedOption(std::string_view name) {
  return concat(name.size() == 1 ? "-" : "--", name);
}

std::string HelpOption::spelling() const {
  const std::string name = dashedOption(names.front());
  if (valueName.empty())
    return name;
  if (valueIsOptional)
    return concat(name, "[=", valueName, "]");
  return concat(name, names.front().size() == 1 ? " " : "=", valueName);
}

std::string ToolHelp::summary() const {
  size_t end = description.find('\n');
  if (size_t stop = description.find(". "); stop < end)
    end = stop;
  std::string text = description.substr(0, end);
  while (!text.empty() && (text.back() == '.' || text.back() == ':'))
    text.pop_back();
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])))
    text[0] = char(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string helpText(const ToolHelp &help) {
  std::string text = concat("usage: ", help.tool, " ", help.usage, "\n\n", help.description, "\n");
  // A line break in the meaning keeps the column.
  auto row = [&text](std::string head, std::string_view meaning, size_t column) {
    head.insert(0, "  ");
    if (head.size() + 2 > column)
      head.append("\n").append(column, ' ');
    else
      head.resize(column, ' ');
    text.append(head);
    for (char c : meaning) {
      text += c;
      if (c == '\n')
        text.append(column, ' ');
    }
    text += '\n';
  };
  if (!help.examples.empty())
    text += "\nexamples:\n";
  for (const ToolHelp::Row &example : help.examples)
    text += concat("  ", example.name, "\n      ", example.meaning, "\n");
  text += "\noptions:\n";
  for (const HelpOption &option : help.options)
    row(option.spelling(), option.help, 32);
  auto rows = [&](std::string_view title, const std::vector<ToolHelp::Row> &table) {
    if (!table.empty())
      text += concat("\n", title, ":\n");
    for (const ToolHelp::Row &entry : table)
      row(entry.name, entry.meaning, title == "environment" ? 32 : 6);
  };
  rows("environment", help.environment);
  rows("exit status", help.exits);
  return text;
}

std::string manualPage(const ToolHelp &help, std::string_view version) {
  std::string title = help.tool;
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return char(std::toupper(c)); });
  std::string text = concat(".TH ", title, " 1 \"\" \"Tenon ", version, "\" \"Tenon\"\n.SH NAME\n", roff(help.tool),
                            " \\- ", roff(help.summary()), "\n.SH SYNOPSIS\n.B ", roff(help.tool), "\n",
                            roff(help.usage), "\n.SH DESCRIPTION\n", roffParagraphs(help.description));
  auto rows = [&text](std::string_view heading, const std::vector<ToolHelp::Row> &table) {
    if (!table.empty())
      text += concat(".SH ", heading, "\n");
    for (const ToolHelp::Row &entry : table)
      text += concat(".TP\n.B ", roff(entry.name), "\n", roff(entry.meaning), "\n");
  };
  text += ".SH OPTIONS\n";
  for (const HelpOption &option : help.options) {
    text += concat(".TP\n.B ", roff(option.spelling()), "\n", roff(option.help), "\n");
    for (size_t i = 1; i < option.names.size(); ++i)
      text += concat(i == 1 ? "Also " : "and ", "\\fB", roff(dashedOption(option.names[i])), "\\fR",
                     i + 1 == option.names.size() ? ".\n" : "\n");
  }
  rows("EXAMPLES", help.examples);
  rows("ENVIRONMENT", help.environment);
  rows("EXIT STATUS", help.exits);
  return text;
}

std::string markdownHelp(const ToolHelp &help) {
  std::string text = concat("```text\n", help.tool, " ", help.usage, "\n```\n\n", markdownParagraphs(help.description));
  if (!help.examples.empty())
    text += "\n**Examples**\n\n";
  for (const ToolHelp::Row &example : help.examples)
    text += concat("- `", example.name, "`<br>", example.meaning, "\n");
  text += "\n| option | what it does |\n|---|---|\n";
  for (const HelpOption &option : help.options) {
    text += concat("| `", cell(option.spelling()), "` | ", cell(option.help));
    for (size_t i = 1; i < option.names.size(); ++i)
      text += concat(i == 1 ? "; also `" : ", `", dashedOption(option.names[i]), "`");
    text += " |\n";
  }
  auto rows = [&text](std::string_view head, const std::vector<ToolHelp::Row> &table) {
    if (!table.empty())
      text += concat("\n| ", head, " | meaning |\n|---|---|\n");
    for (const ToolHelp::Row &entry : table)
      text += concat("| `", entry.name, "` | ", cell(entry.meaning), " |\n");
  };
  rows("environment", help.environment);
  rows("exit status", help.exits);
  return text;
}

} // namespace tenon
