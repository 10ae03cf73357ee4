// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one instruction does with addresses: the row of its opcode (ptx/opcode_table.h), and what its modifiers and
// operands make of that.
#pragma once

#include "ptx/module.h"
#include "ptx/opcode_table.h"

namespace tenon::linker {

using ptx::Effect;

struct EffectOf {
  Effect effect = Effect::None;
  ptx::StateSpace space = ptx::StateSpace::Generic; // of the address
  uint8_t firstSource = 0, sources = 0;             // Copy: which operands; 0 sources: all but the result
};

EffectOf effectOf(const ptx::Instruction &instruction);

/// Whether some operand is an address.
bool hasAddress(const ptx::Instruction &instruction);

/// Whether opcode and modifiers do not decide alone: an asynchronous copy, or an opcode without an entry. Then it
/// matters as well whether an operand is an address, and whether the first one is.
bool dependsOnOperands(std::string_view opcode);

} // namespace tenon::linker
