// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Short ways to parse a piece of PTX in a test: a whole text, one declaration, or the statements of a body.
#pragma once

#include "ptx/parse/parser.h"

#include <memory>
#include <string>
#include <string_view>

namespace tenon::ptx::test {

inline constexpr std::string_view kHeader = ".version 8.0\n.target sm_80\n.address_size 64\n";

struct Parsed {
  Module module;
  std::string errors; // as printed; the file is called k.ptx
};

inline Parsed parseText(std::string text) {
  Diagnostics diagnostics;
  Parsed parsed;
  parsed.module = parse(std::make_shared<SourceFile>("k.ptx", std::move(text)), diagnostics);
  parsed.errors = diagnostics.toString();
  return parsed;
}

/// `text` at module level, from line 4.
inline Parsed parseModule(std::string_view text) {
  return parseText(std::string(kHeader).append(text));
}

/// `text` in the body of a kernel, on line 5.
inline Parsed parseBody(std::string_view text) {
  return parseModule(std::string(".entry k() {\n").append(text).append("\nret;\n}\n"));
}

inline std::string moduleErrors(std::string_view text) {
  return parseModule(text).errors;
}
inline std::string bodyErrors(std::string_view text) {
  return parseBody(text).errors;
}

/// One row of a table of errors.
struct ErrorCase {
  std::string_view text, errors;
};

} // namespace tenon::ptx::test
