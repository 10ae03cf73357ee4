// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which parameters of a kernel are pointers, as far as a look at its instructions tells. For drafting a declaration
// only: the proof of one (linker/access/trace.h) starts from knowing what is declared a pointer.
#pragma once

#include "ptx/module.h"

#include <cstdint>
#include <vector>

namespace tenon::linker {

struct ParameterUse {
  bool isAddress = false;    // converted to an address, or memory is reached from it and from no other parameter
  bool maybeAddress = false; // memory is reached from it and another one: one of them is an offset
  bool isFloat = false;      // loaded as a float
};

/// One for each parameter of `entry`. Registers are followed through moves, conversions of address spaces, sums and
/// selections, wherever they stand; products and shifts are index arithmetic and end the trail.
std::vector<ParameterUse> findParameterUses(const ptx::Function &entry);

} // namespace tenon::linker
