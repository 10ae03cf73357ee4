// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// JSON out, indented by two: enough for --json.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace tenon::linker {

/// Calls come in the order of the text: beginObject, key, value, ..., endObject. Commas and line breaks are put in.
class JsonWriter {
public:
  void beginObject() { open('{'); }
  void endObject() { close('}'); }
  void beginArray() { open('['); }
  void endArray() { close(']'); }
  void key(std::string_view name);

  void value(std::string_view text);
  void value(const char *text) { value(std::string_view(text)); }
  void value(const std::string &text) { value(std::string_view(text)); }
  void value(bool flag) { raw(flag ? "true" : "false"); }
  template <typename Integer>
    requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>)
  void value(Integer number) {
    raw(std::to_string(number));
  }
  /// Arrays of numbers stay on one line.
  template <typename Range> void numbers(const Range &range) {
    std::string text = "[";
    for (auto number : range)
      text += (text.size() > 1 ? ", " : "") + std::to_string(number);
    raw(text + "]");
  }
  template <typename Value> void member(std::string_view name, const Value &content) {
    key(name);
    value(content);
  }

  /// The text so far, newline-terminated; call once, at the end.
  std::string take() { return std::move(text_) + "\n"; }

private:
  void open(char bracket);
  void close(char bracket);
  void raw(std::string_view text);
  void separate();

  std::string text_;
  size_t depth_ = 0;
  bool isFirst_ = true; // in the innermost object or array
  bool afterKey_ = false;
};

} // namespace tenon::linker
