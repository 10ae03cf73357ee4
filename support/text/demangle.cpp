// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Itanium C++ ABI's own demangler; nvcc and clang mangle kernels by it.
#include "support/text/demangle.h"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace tenon {

std::string demangle(std::string_view name) {
  if (!name.starts_with("_Z")) // the demangler would take "i" for `int`
    return {};
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> text(
      ::abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? std::string(text.get()) : std::string();
}

std::string readableName(std::string_view name) {
  std::string demangled = demangle(name);
  return demangled.empty() ? std::string(name) : demangled;
}

std::string_view baseName(std::string_view demangled) {
  // One pass over what stands outside <> and (): the name ends at its arguments, and starts after the last "::" or
  // blank.
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  size_t begin = 0, depth = 0;
  for (size_t i = 0; i < demangled.size(); ++i) {
    if (depth == 0 && demangled.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
      continue;
    }
    char c = demangled[i];
    if (c == '(' && depth == 0) {
      demangled = demangled.substr(0, i);
      break;
    }
    if (c == '<' || c == '(')
      ++depth;
    else if ((c == '>' || c == ')') && depth)
      --depth;
    else if (depth == 0 && (c == ' ' || c == ':'))
      begin = i + 1;
  }
  std::string_view name = demangled.substr(begin);
  return name.substr(0, name.find('<'));
}

} // namespace tenon
