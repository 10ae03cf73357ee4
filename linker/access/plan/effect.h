// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one instruction does with addresses: the row of its opcode (ptx/opcode_table.h), and what its modifiers and
// operands make of that.
#pragma once

#include "linker/access/transfer.h"
#include "ptx/module.h"
#include "ptx/opcode_table.h"

#include <array>
#include <optional>

namespace tenon::linker {

using ptx::Effect;

struct EffectOf {
  Effect effect = Effect::None;
  ptx::StateSpace space = ptx::StateSpace::Generic; // of the address, or that cvta converts from
};

EffectOf effectOf(const ptx::Instruction &instruction);

/// What an instruction that computes (ptx::isComputed) does to the roles of its operands, as far as opcode and
/// modifiers tell; of cvta to generic addresses source 1 is an address of the space.
Transfer transferOf(const ptx::Instruction &instruction, const EffectOf &effect);

/// The same, where an operand is a number that is written there, and tells more: `and` with a mask, `shr` by 56.
/// Then only operand `source` counts, and `addend` where there is one.
struct Refined {
  Transfer transfer;
  uint32_t source = 1; // operand
  uint32_t addend = 0; // operand; 0: none
};
/// Whether a number may tell more of such an instruction.
constexpr bool mayBeRefined(Effect effect) {
  return effect == Effect::Mask || effect == Effect::Bitwise || effect == Effect::ShiftRight ||
         effect == Effect::Extract || effect == Effect::Remainder;
}
/// Whether a small number tells more of it: a product, `shl`. What it tells is one of an index.
constexpr bool mayScale(Effect effect) {
  return effect == Effect::Product || effect == Effect::MultiplyAdd || effect == Effect::ShiftLeft;
}
/// Numbers that registers are known to hold, by operand.
inline constexpr size_t kMostNumbers = 4;
using OperandNumbers = std::array<std::optional<uint64_t>, kMostNumbers>;
std::optional<Refined> refinedBy(const ptx::Instruction &instruction, Effect effect,
                                 const OperandNumbers &numbers = {});

/// Whether some operand is an address.
bool hasAddress(const ptx::Instruction &instruction);

/// Whether opcode and modifiers do not decide alone: an asynchronous copy, or an opcode without an entry. Then it
/// matters as well whether an operand is an address, and whether the first one is.
bool dependsOnOperands(std::string_view opcode);

} // namespace tenon::linker
