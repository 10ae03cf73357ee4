// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/tools/json_writer.h"

#include "support/text.h"

namespace tenon::linker {

void JsonWriter::separate() {
  if (afterKey_) {
    afterKey_ = false;
    return;
  }
  if (!isFirst_)
    text_ += ',';
  if (depth_)
    text_.append("\n").append(depth_ * 2, ' ');
  isFirst_ = false;
}

void JsonWriter::key(std::string_view name) {
  separate();
  text_ += jsonString(name);
  text_ += ": ";
  afterKey_ = true;
}

void JsonWriter::value(std::string_view text) {
  separate();
  text_ += jsonString(text);
}

void JsonWriter::raw(std::string_view text) {
  separate();
  text_ += text;
}

void JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  ++depth_;
  isFirst_ = true;
}

void JsonWriter::close(char bracket) {
  --depth_;
  if (!isFirst_)
    text_.append("\n").append(depth_ * 2, ' ');
  text_ += bracket;
  isFirst_ = false;
}

} // namespace tenon::linker
