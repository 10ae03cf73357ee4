// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The modifiers of one instruction, taken one by one. What is left at the end is not supported, so that no modifier is
// ever ignored.
#pragma once

#include "emulator/machine/handlers.h"
#include "ptx/module.h"

#include <initializer_list>
#include <string_view>

namespace tenon::emulator {

class Form {
public:
  explicit Form(const ptx::Instruction &instruction) : instruction_(instruction) {}
  bool take(std::string_view modifier);
  /// Index of the first of `choices` that is there, taken; -1: none.
  int takeOneOf(std::initializer_list<std::string_view> choices);
  /// The next type in order; None: no more.
  ptx::ScalarType takeType();
  Rounding takeRounding();
  /// The first modifier that was not taken, or empty.
  std::string_view left() const;

private:
  const ptx::Instruction &instruction_;
  uint64_t taken_ = 0;
};

} // namespace tenon::emulator
