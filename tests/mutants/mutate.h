// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Broken twins of a kernel, made from its PTX: every barrier and every fence of the asynchronous proxy deleted, half of
// each warp and half of the block led around each barrier, every asynchronous wait dropped, every shared array one
// element shorter, a store through every read-only parameter. Each is one edit of the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::mutants {

struct Mutant {
  std::string name;  // "no bar.sync 2"
  uint32_t line = 0; // of the source, where one is known
  std::string ptx;
};

/// ptx: a module that parses. readOnly: indices of the kernel's parameters that are pointers it must not write through.
/// elementBytes: of the kernel's shared arrays.
std::vector<Mutant> mutantsOf(std::string_view ptx, std::string_view kernel, const std::vector<size_t> &readOnly,
                              size_t elementBytes);

} // namespace tenon::mutants
