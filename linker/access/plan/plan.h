// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A body prepared for tracing: what its instructions do with addresses, as steps over numbered values, without names or
// text. Once it is there, the body itself is no longer needed.
//
// Values are the registers, then constants: what a value is known to be before anything runs. Most registers have one
// definition, and what that computes from known values is known as well: such instructions need no step. What is left
// are accesses of memory, registers with several definitions and what follows from them.
//
// Cells are variables that are told apart place by place: the function's own parameters and returns, the .param
// variables that its body declares for calls, its .local variables, and the .shared ones of a kernel. An access of one
// of the last two goes to its cell where the address is the variable's plus a constant. The parameters of a kernel are
// constants, not cells, where it loads from them by name.
#pragma once

#include "linker/access/origins.h"
#include "linker/access/plan/form.h"
#include "linker/access/plan/place_addresses.h"
#include "ptx/control_flow.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tenon::linker {

enum class StepKind : uint8_t {
  Compute,       // from the sources, as `transfer` says
  SetCarry,      // the sources tell what the carry flag is
  AddCarry,      // computed from the sources and the carry flag
  TestLowBits,   // of source 0
  Steer,         // source 0 decides where control goes on, or what is done
  LoadCell,      // cell, offset, bytes
  StoreCell,     // source 0 to cell, offset, bytes
  TakeCell,      // the address of the cell goes into a register
  Load,          // source 0 is the address
  Store,         // source 0 is the address, the others are stored
  Atomic,        // as Store, and a result
  CopyToGlobal,  // source 0 is written with what shared memory holds, where the others say
  CopyToShared,  // source 0 is read, source 1 is written, the others say how
  StoreToMap,    // the sources are stored where a tensor map leads, which stands `offset` behind source 0
  SharedProduct, // of the sources and of what shared memory holds
  TensorLoad,    // what tensor memory holds, and the sources say where
  TensorStore,   // the sources, and what shared memory holds, go to tensor memory
  Unknown,       // any source may be written to, and leave the kernel
  Call,
};

struct Step {
  StepKind kind = StepKind::Compute;
  ptx::StateSpace space = ptx::StateSpace::Generic;
  bool predicated = false;
  bool nonCoherent = false;
  bool late = false;        // an earlier step, or this one, reads a result: what it saw may not have been all
  Transfer transfer;        // Compute
  bool mayBeBlank = false;  // LoadCell: it may find what was left there
  bool isFilled = false;    // LoadCell: every path has stored to all of it
  bool isSomewhere = false; // LoadCell, StoreCell: of some of these bytes
  uint16_t results = 0, sources = 0;
  uint32_t instruction = 0;
  uint32_t first = 0;   // into Plan::values: results, then sources
  uint32_t cell = 0;    // LoadCell, StoreCell, TakeCell; Call: into Plan::calls
  uint32_t bytes = 0;   // of the access
  uint32_t element = 0; // of one value of it; 0: of no width that is told
  int64_t offset = 0;   // of Load, Store and StoreToMap: behind the address
};

/// Bytes of a .param variable that some path does not store to: what stands there is what another call left.
struct BlankBytes {
  int64_t offset = 0;
  uint64_t bytes = 0;
  bool operator==(const BlankBytes &) const = default;
};

/// A value or a whole cell, as argument or result of a call.
struct Passed {
  bool isCell = false;
  uint32_t index = 0;
  std::vector<BlankBytes> blank; // of an argument, when control comes to the call
};

inline constexpr uint32_t kNoFunction = UINT32_MAX;
inline constexpr uint32_t kNoInstruction = UINT32_MAX;

struct CallSite {
  uint32_t callee = kNoFunction; // into Module::functions; none: indirect, or a name that the module does not know
  std::string_view name;
  std::vector<Passed> arguments, results;
};

/// What is known of a slot of a kernel's parameters without a step.
struct SlotNote {
  bool named = false;         // loaded by name
  bool loadedAsFloat = false; // as a floating-point number
  bool soleBase = false;      // base of an address that is converted or prefetched, and no other parameter goes into it
  bool jointBase = false;     // the same, together with another parameter
};

struct Plan {
  uint32_t function = 0; // into Module::functions
  uint32_t parameterCount = 0, returnCount = 0;
  ptx::ControlFlow flow;
  uint32_t registerCount = 0;
  std::vector<Origins> constants;       // the values behind the registers
  std::vector<bool> severalDefinitions; // [registers]
  std::vector<Step> steps;
  std::vector<uint32_t> firstStep; // [blocks + 1]
  std::vector<uint32_t> values;    // results and sources of the steps
  std::vector<CallSite> calls;
  uint32_t firstPlaceCell = 0; // behind parameters, returns and the .param variables of the body: .local, .shared
  uint32_t firstSharedCell = 0;
  uint32_t cellCount = 0;
  std::vector<uint64_t> cellBytes;        // [cells]
  uint32_t foreignSteer = kNoInstruction; // the first one whose guard or index tells something of what was loaded
  bool hasRegisterParameters = false;     // .reg parameters or returns, which nobody follows
  std::vector<std::vector<BlankBytes>> blankReturns; // [returns] when a path ends
  std::vector<SlotNote> notes;                       // [slots] of a kernel
  /// Places in .local variables of a kernel whose addresses functions may get: slot firstPlaceSlot + i stands for
  /// address i, as a slot does for that of a tensor map.
  std::vector<VariablePlace> placeSlots;
  uint32_t firstPlaceSlot = 0;
  /// Registers whose definitions disagree about pointers, ascending; the tracer adds them as it finds them.
  std::vector<uint32_t> tracked;
  std::vector<uint32_t> disagreeing; // found since `tracked` was set
  std::vector<uint32_t> undefined;   // registers that steps read and no reachable instruction sets

  bool isParameter(uint32_t cell) const { return cell < parameterCount; }
  uint32_t returnCell(size_t i) const { return static_cast<uint32_t>(parameterCount + i); }
  /// A variable of thread-private or shared memory.
  bool isPlaceCell(uint32_t cell) const { return cell >= firstPlaceCell; }
  uint32_t slotOfCell(uint32_t cell) const {
    return cell < firstPlaceCell ? kParamMemory : cell < firstSharedCell ? kLocalMemory : kSharedMemory;
  }
};

} // namespace tenon::linker
