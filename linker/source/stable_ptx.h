// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX that says the same wherever its source lies. nvcc writes the source's folder into it in two places: names of
// internal things (`static`, unnamed namespaces) hold eight digits made from the absolute path, and `.file` directives
// hold paths and, by version, times and sizes.
#pragma once

#include <string>
#include <string_view>

namespace tenon::linker {

/// `text` with those digits replaced by `id` (8 hexadecimal digits), and with `.file` paths below `folder` ("/a/b/")
/// made relative to it, without time and size.
std::string stablePtx(std::string_view text, std::string_view folder, std::string_view id);

} // namespace tenon::linker
