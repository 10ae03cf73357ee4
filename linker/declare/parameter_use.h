// What a kernel does with its parameters, as far as a look at its instructions tells: for drafting a declaration, where
// a guess is marked as one. (The proof of a declaration does not rest on this.)
#pragma once

#include "ptx/module.h"

#include <cstdint>
#include <vector>

namespace tenon::linker {

struct ParameterUse {
  bool isRead = false;       // loaded from the parameter block at all
  bool isAddress = false;    // memory is reached from it, and from no other parameter
  bool maybeAddress = false; // memory is reached from it and another one: one of them is an offset
  bool isWritten = false;    // memory reached from it is written
  bool escapes = false;      // stored, or handed to a function: what happens there is not seen
  bool isFloat = false;      // loaded as a float
  uint32_t accessBytes = 0;  // the widest access to memory reached from it
};

/// One for each parameter of `entry`. Registers are followed through moves, conversions of address spaces, sums and
/// selections, wherever they stand; products and shifts are index arithmetic and end the trail.
std::vector<ParameterUse> findParameterUses(const ptx::Function &entry);

} // namespace tenon::linker
