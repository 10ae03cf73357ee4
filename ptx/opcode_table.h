// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One row per opcode: what an instruction does with addresses and memory, where control goes on behind it, whether its
// operand 0 is a result, whether it takes handles. The linker's proof of K-13 rests on the column `effect`. How an
// instruction computes is not here: the emulator knows that.
//
// An opcode without a row computes its first operand from the others, unless it has an address: then it may write
// there, which makes whatever the address derives from unknown. So a new instruction costs a proof, never a false one.
// Source: PTX ISA 9.0, "Instruction Set".
#pragma once

#include "ptx/opcode_facts.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace tenon::ptx {

/// What an instruction does with addresses. Up to `Gather` it computes its result from its operands, and touches no
/// memory.
enum class Effect : uint8_t {
  None,        // touches no memory that matters and defines nothing
  Number,      // the result does not depend on its operands
  Copy,        // its source; halves of a register are put together or taken apart
  Convert,     // between types: exact between integers, but for what is cut off
  ToAddress,   // cvta
  Shuffle,     // operand 1 of another thread
  Select,      // operand 1 or 2, as operand 3 says
  Extreme,     // one of its sources, by their order
  Sum,         // a + b
  Difference,  // a - b
  Negate,      // -a, ~a
  MultiplyAdd, // a * b + c
  Product,     // a * b
  Mask,        // a & b
  Bitwise,     // bit by bit
  ShiftLeft,
  ShiftRight,
  Extract,   // bits of a, from b on, c of them
  Remainder, // a % b
  Compare,   // a with b, and a predicate
  IsAddress, // whether operand 1 is an address of some kind
  Narrow,    // at most 4096 different values, of all operands
  Blend,     // anything computed from its operands
  Carry,     // the same, and from the carry flag
  Gather,    // of the operands of several threads
  // Memory.
  LocalAddress,  // alloca
  Load,          // defines what is behind the address
  ForeignLoad,   // defines what a texture or a surface holds
  Store,         // writes behind operand 0; the other operands' values are stored
  Atomic,        // writes behind its address, defines the old value
  CopyToGlobal,  // bulk copies and reductions: writes behind operand 0 what shared memory holds
  CopyToShared,  // reads behind operand 1, writes behind operand 0
  StoreToMap,    // through a tensor map: what is stored is known, where to is not a binding
  SharedProduct, // computes from its operands and from shared memory (wgmma)
  TensorLoad,    // defines what tensor memory holds
  TensorStore,   // its operands, and what shared memory holds, go to tensor memory
  Synchronise,   // its operands tell when threads go on
  Call,
  Unknown, // an address, and nothing is known of what happens behind it
};
constexpr bool isComputed(Effect effect) {
  return effect <= Effect::Gather;
}

/// How modifiers and operands change the effect of a row.
enum class EffectRule : uint8_t {
  Fixed,        // they do not
  AsyncCopy,    // cp: by the operands and the space of the destination
  Multimem,     // .ld_reduce loads; .cp copies to global memory; else a store
  Wmma,         // .load, .store, else Gather
  Barrier,      // .red gathers
  TensorMemory, // .ld loads; .st, .cp, .mma and .shift store
  TensorMap,    // .cp_fenceproxy copies to global memory, else a store
  Vote,         // .ballot gathers, else Narrow
};

struct OpcodeRow {
  std::string_view opcode;
  Effect effect = Effect::Blend;
  EffectRule rule = EffectRule::Fixed;
  Control control = Control::Next;
  FirstOperand first = FirstOperand::Result; // without what the rule says of it
  bool takesHandle = false;                  // of a texture, a surface or a sampler
};

/// The row of an opcode; null where it is not known.
const OpcodeRow *findOpcode(std::string_view opcode);

/// All rows, sorted by opcode.
std::span<const OpcodeRow> allOpcodes();

} // namespace tenon::ptx
