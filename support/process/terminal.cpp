// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/process/terminal.h"

#include "support/status.h"

#include <array>
#include <cstdlib>
#include <unistd.h>

namespace tenon {
namespace {

constexpr std::string_view kBold = "\033[1m", kPlain = "\033[0m";

struct Word {
  std::string_view text, colour;
};
constexpr std::array<Word, 5> kWords = {{{"error: ", "\033[1;31m"},
                                         {"warning: ", "\033[1;35m"},
                                         {"remark: ", "\033[1;34m"},
                                         {"note: ", "\033[1;36m"},
                                         {"fix: ", "\033[1;32m"}}};

template <typename Function> std::string eachLine(std::string_view text, Function &&paint) {
  std::string out;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    out += paint(text.substr(0, end));
    if (end == std::string_view::npos)
      break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

/// "place: error: what": the word stands first, or behind a place or a tool's name.
std::string paintMessage(std::string_view line) {
  size_t at = std::string_view::npos;
  const Word *found = nullptr;
  for (const Word &word : kWords) {
    const size_t here = line.find(word.text);
    if (here < at && (here == 0 || (here >= 2 && line.substr(here - 2, 2) == ": ")))
      at = here, found = &word;
  }
  if (!found)
    return std::string(line);
  std::string out = at ? concat(kBold, line.substr(0, at), kPlain) : std::string();
  return out + concat(found->colour, found->text, kPlain, line.substr(at + found->text.size()));
}

std::string paintHelp(std::string_view line) {
  if (line.starts_with("usage: "))
    return concat(kBold, "usage:", kPlain, line.substr(6));
  const bool isHeading = line.size() > 1 && line.back() == ':' && line.front() >= 'a' && line.front() <= 'z' &&
                         line.find_first_of(",.;(") == std::string_view::npos && line.size() < 20;
  return isHeading ? concat(kBold, line, kPlain) : std::string(line);
}

} // namespace

bool isTerminal(std::FILE *stream) {
  const char *terminal = std::getenv("TERM");
  return terminal && *terminal && std::string_view(terminal) != "dumb" && ::isatty(::fileno(stream));
}

bool takesColours(std::FILE *stream) {
  const char *no = std::getenv("NO_COLOR");
  return !(no && *no) && isTerminal(stream);
}

std::string colouredMessages(std::string_view text) {
  return eachLine(text, paintMessage);
}

std::string colouredHelp(std::string_view text) {
  return eachLine(text, paintHelp);
}

void printMessages(std::FILE *stream, std::string_view text) {
  const std::string coloured = takesColours(stream) ? colouredMessages(text) : std::string(text);
  std::fwrite(coloured.data(), 1, coloured.size(), stream);
}

} // namespace tenon
