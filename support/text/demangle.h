// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names as a C++ user wrote them: `_Z10simple_mulPKf` is `simple_mul(float const*)`.
#pragma once

#include <string>
#include <string_view>

namespace tenon {

/// The demangled name, or empty when `name` is no mangled name.
std::string demangle(std::string_view name);

/// The demangled name where there is one, else `name` itself: for reports.
std::string readableName(std::string_view name);

/// The last component of a demangled name without its arguments: "simple_mul" of "void ns::simple_mul<float>(int)".
std::string_view baseName(std::string_view demangled);

} // namespace tenon
