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

/// What an instruction does with addresses.
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
  Unknown, // an address, and nothing is known of what happens behind it
};

/// How modifiers and operands change the effect of a row.
enum class EffectRule : uint8_t {
  Fixed,        // they do not
  AsyncCopy,    // cp: by the operands and the space of the destination
  Multimem,     // .ld_reduce loads; .cp copies to global memory; else a store
  Wmma,         // .load, .store, else Scale
  Barrier,      // .red defines a number
  TensorMemory, // .ld loads
  Mad,          // .hi keeps no sum
};

struct OpcodeRow {
  std::string_view opcode;
  Effect effect = Effect::Scale;
  EffectRule rule = EffectRule::Fixed;
  uint8_t firstSource = 0, sources = 0; // Copy: which operands; 0 sources: all but the result
  Control control = Control::Next;
  FirstOperand first = FirstOperand::Result; // without what the rule says of it
  bool takesHandle = false;                  // of a texture, a surface or a sampler
  bool convertsAddress = false;              // cvta: its source is an address, whether or not it is used as one
};

/// The row of an opcode; null where it is not known.
const OpcodeRow *findOpcode(std::string_view opcode);

/// All rows, sorted by opcode.
std::span<const OpcodeRow> allOpcodes();

} // namespace tenon::ptx
