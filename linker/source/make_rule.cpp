// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Make has no quotes: a backslash keeps a blank or '#' literal, '$$' is a dollar, a backslash at a line's end goes on.
#include "linker/source/make_rule.h"

#include "support/status.h"

#include <set>

namespace tenon::linker {

std::vector<std::string> readMakeRule(std::string_view text) {
  std::vector<std::string> files;
  std::string word;
  bool behindColon = false;
  auto end = [&] {
    if (word.empty())
      return;
    if (behindColon)
      files.push_back(word);
    // "target:" and "target :" are the same.
    else if (word.back() == ':')
      behindColon = true;
    word.clear();
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '\\' && (next == '\n' || (next == '\r' && i + 2 < text.size() && text[i + 2] == '\n'))) {
      end();
      i += next == '\r' ? 2 : 1;
    } else if ((c == '\\' && (next == ' ' || next == '#' || next == '\\' || next == ':')) ||
               (c == '$' && next == '$')) {
      word += next;
      ++i;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      end();
    } else if (c == '\n') {
      end();
      if (behindColon)
        break;
    } else {
      word += c;
    }
  }
  end();
  return files;
}

static std::string escaped(std::string_view path) {
  std::string text;
  for (char c : path) {
    if (c == ' ' || c == '#' || c == '\\')
      text += '\\';
    else if (c == '$')
      text += '$';
    text += c;
  }
  return text;
}

std::string writeMakeRule(const std::string &target, std::vector<std::string> files) {
  std::set<std::string> seen;
  std::erase_if(files, [&seen](const std::string &file) { return !seen.insert(file).second; });
  std::string text = escaped(target) + ":";
  for (const std::string &file : files)
    text += concat(" \\\n  ", escaped(file));
  text += '\n';
  for (const std::string &file : files)
    text += concat(escaped(file), ":\n");
  return text;
}

} // namespace tenon::linker
