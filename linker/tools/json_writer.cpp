// RFC 8259: quotes, backslashes and control characters are escaped, all other bytes are written as they are.
#include "linker/tools/json_writer.h"

#include <cstdio>

namespace tenon::linker {

static void appendQuoted(std::string &out, std::string_view text) {
  out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", unsigned(c));
      out += escape;
    } else {
      out += c;
    }
  }
  out += '"';
}

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
  appendQuoted(text_, name);
  text_ += ": ";
  afterKey_ = true;
}

void JsonWriter::value(std::string_view text) {
  separate();
  appendQuoted(text_, text);
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
