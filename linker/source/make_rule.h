// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dependency files in Make's language, `target: file file`: what nvcc -MD writes, and what --depfile writes for Ninja
// and Make.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon::linker {

/// The files behind the colon of the first rule of `text`, unescaped, in order.
std::vector<std::string> readMakeRule(std::string_view text);

/// A rule of one target, every file once, with a rule without prerequisites for each file, so that a deleted header is
/// no error.
std::string writeMakeRule(const std::string &target, std::vector<std::string> files);

} // namespace tenon::linker
