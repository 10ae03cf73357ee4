// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MLIR's parser, and every pass behind it, calls itself for what is nested: a module of 5,000 modules ends the process.
// So text is looked through before it is parsed. Three things take stack: brackets within brackets, aliases within
// aliases (`#b = [#a]`), and long affine expressions, which are read from their end. A fourth takes time: aliases that
// name others twice stand for a text that doubles each time.
#pragma once

#include "support/process/large_stack.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::compiler::bridge {

inline constexpr size_t kMostNesting = 256;               // brackets and aliases, as clang has it
inline constexpr size_t kMostOperators = 2048;            // in one expression
inline constexpr size_t kMostExpansion = size_t(1) << 24; // words of a text with its aliases written out

/// What a tool's thread needs for the deepest text that is let through, with room for a sanitizer's frames.
inline constexpr size_t kStackBytes = kLargeStackBytes;

struct NestingMistake {
  size_t offset; // in the text
  std::string message;
};

/// What is nested too deep in MLIR text, or that it is MLIR bytecode, whose reader is not guarded; nothing: it may be
/// parsed, on a stack of kStackBytes.
std::optional<NestingMistake> findNestingMistake(std::string_view text);

} // namespace tenon::compiler::bridge
