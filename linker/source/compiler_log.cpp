// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Three ways to write a message:
//
//   k.cu(3): error: identifier "y" is undefined          cudafe++ and cicc; "warning #550-D:", "catastrophic error:"
//   k.cu:1:10: fatal error: nope.h: No such file         gcc and clang
//   nvcc fatal   : Unknown option '--bogus'              nvcc itself
//
// Lines up to the next message show the source; a blank line, a summary or a remark about options ends them.
#include "linker/source/compiler_log.h"

#include "support/number.h"
#include "support/text/text.h"

#include <optional>

namespace tenon::linker {
namespace {

std::optional<Severity> severityOf(std::string_view word) {
  // "error", "error #20", "fatal error", "catastrophic error", "internal error"; "warning #550-D"
  word = trimmed(word.substr(0, word.find('#')));
  if (word.ends_with("error") || word.ends_with("fatal"))
    return Severity::Error;
  if (word == "warning")
    return Severity::Warning;
  return std::nullopt;
}

/// "KIND: TEXT" behind a place or the compiler's name.
std::optional<CompilerMessage> readKind(std::string_view rest) {
  const size_t colon = rest.find(':');
  if (colon == std::string_view::npos || colon > 40)
    return std::nullopt;
  const std::optional<Severity> severity = severityOf(rest.substr(0, colon));
  if (!severity)
    return std::nullopt;
  return CompilerMessage{.severity = *severity, .where = {}, .text = std::string(trimmed(rest.substr(colon + 1)))};
}

/// A number at the front of `text`, which moves behind it and behind `end`.
std::optional<uint32_t> takeNumberBefore(std::string_view &text, std::string_view end) {
  std::string_view rest = text;
  const std::optional<uint32_t> number = takeNumber<uint32_t>(rest);
  if (!number || !rest.starts_with(end))
    return std::nullopt;
  text = rest.substr(end.size());
  return number;
}

std::optional<CompilerMessage> readMessage(std::string_view line) {
  if (line.empty() || line[0] == ' ' || line[0] == '\t')
    return std::nullopt;
  for (std::string_view tool : {"nvcc ", "clang: ", "clang++: ", "gcc: ", "g++: ", "cc1plus: "})
    if (line.starts_with(tool))
      return readKind(line.substr(tool.size()));
  for (size_t at = line.find_first_of("(:"); at != std::string_view::npos; at = line.find_first_of("(:", at + 1)) {
    std::string_view rest = line.substr(at + 1);
    SourceLocation where{std::string(line.substr(0, at)), 0, 0};
    std::optional<uint32_t> number = takeNumberBefore(rest, line[at] == '(' ? "): " : ":");
    if (!number)
      continue;
    where.line = *number;
    if (line[at] == ':')
      if (std::optional<uint32_t> column = takeNumberBefore(rest, ":"))
        where.column = *column;
    std::optional<CompilerMessage> message = readKind(trimmed(rest));
    if (message)
      message->where = std::move(where);
    return message;
  }
  return std::nullopt;
}

} // namespace

std::vector<CompilerMessage> parseCompilerLog(std::string_view log) {
  std::vector<CompilerMessage> messages;
  bool isOpen = false; // lines that follow belong to the last message
  while (!log.empty()) {
    std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    if (std::optional<CompilerMessage> message = readMessage(line)) {
      messages.push_back(std::move(*message));
      isOpen = true;
    } else if (line.empty() || (line[0] != ' ' && line[0] != '\t')) {
      isOpen = false;
    } else if (isOpen) {
      messages.back().text.append("\n").append(line);
    }
  }
  return messages;
}

} // namespace tenon::linker
