// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an instruction does with addresses: the one table that the proof of K-13 rests on.
//
// An opcode that is not listed computes its first operand from the others (Scale), unless it has an address: then it
// may write there, which makes whatever the address derives from unknown. So a new instruction costs a proof, never a
// false one.
#pragma once

#include "ptx/module.h"

namespace tenon::linker {

enum class Effect : uint8_t {
  None,         // touches no memory that matters and defines nothing
  Number,       // defines a value that no address can be made of
  Copy,         // defines one of its sources (mov, selp, cvta, ...): the first `sources` operands behind the result
  Sum,          // defines the sum of its sources, or what keeps one of them apart from low bits (or, xor, lop3)
  Difference,   // a - b
  MultiplyAdd,  // a * b + c
  Mask,         // and: small immediate masks leave no address
  Scale,        // defines something computed from its sources
  LocalAddress, // alloca
  Load,         // defines what is behind the address
  ForeignLoad,  // defines what a texture, a surface or tensor memory holds
  Store,        // writes behind operand 0; the other operands' values are stored
  Atomic,       // writes behind its address, defines the old value
  CopyToGlobal, // bulk copies and reductions: writes behind operand 0 what shared memory holds
  CopyToShared, // reads behind operand 1
  StoreToMap,   // through a tensor map: what is stored is known, where to is not a binding
  Call,
  Unknown, // an address and no entry here
};

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
