// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A body prepared for tracing: what its instructions do with addresses, as steps over numbered values, without names or
// text. Once it is there, the body itself is no longer needed.
//
// Values are the registers, then constants: what a value is known to be before anything runs. Most registers have one
// definition, and what that computes from known values is known as well: such instructions need no step. What is left
// are accesses of memory, registers with several definitions and what follows from them.
//
// Cells are variables that are told apart place by place: the function's own parameters and returns, the .param
// variables that its body declares for calls, and its .local variables. An access of a .local variable goes to its cell
// where the address is the variable's plus a constant. The parameters of a kernel are constants, not cells, where it
// loads from them by name.
#pragma once

#include "linker/access/origins.h"
#include "linker/access/plan/form.h"
#include "ptx/control_flow.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tenon::linker {

enum class StepKind : uint8_t {
  Copy,        // join of the sources
  Sum,         // of all sources
  Difference,  // source 0 - source 1
  MultiplyAdd, // scaled(source 0, source 1) + source 2
  Scale,
  TestLowBits,  // of source 0; the result is a number
  LoadCell,     // cell, offset, bytes
  StoreCell,    // source 0 to cell, offset, bytes
  TakeCell,     // the address of the cell goes into a register
  Load,         // source 0 is the address
  Store,        // source 0 is the address, the others are stored
  Atomic,       // as Store, and a result
  CopyToGlobal, // source 0 is written with what shared memory holds
  CopyToShared, // source 0 is read
  StoreToMap,   // the sources are stored somewhere that no binding leads to
  Unknown,      // any source may be written to, and leave the kernel
  Call,
};

struct Step {
  StepKind kind = StepKind::Copy;
  ptx::StateSpace space = ptx::StateSpace::Generic;
  bool predicated = false;
  bool nonCoherent = false;
  bool late = false; // an earlier step, or this one, reads a result: what it saw may not have been all
  uint16_t results = 0, sources = 0;
  uint32_t instruction = 0;
  uint32_t first = 0; // into Plan::values: results, then sources
  uint32_t cell = 0;  // LoadCell, StoreCell, TakeCell; Call: into Plan::calls
  uint32_t bytes = 0; // of the access
  int64_t offset = 0;
};

/// A value or a whole cell, as argument or result of a call.
struct Passed {
  bool isCell = false;
  uint32_t index = 0;
};

inline constexpr uint32_t kNoFunction = UINT32_MAX;

struct CallSite {
  uint32_t callee = kNoFunction; // into Module::functions; none: indirect, or a name that the module does not know
  std::string_view name;
  std::vector<Passed> arguments, results;
};

/// What is known of a kernel's parameter without a step.
struct ParameterNote {
  bool named = false;         // loaded by name
  bool loadedAsFloat = false; // as a floating-point number
  bool soleBase = false;      // base of an address that is converted or prefetched, and no other parameter goes into it
  bool jointBase = false;     // the same, together with another parameter
};

struct Plan {
  uint32_t function = 0; // into Module::functions
  bool isEntry = false;
  uint32_t parameterCount = 0, returnCount = 0;
  ptx::ControlFlow flow;
  uint32_t registerCount = 0;
  std::vector<Origins> constants;       // the values behind the registers
  std::vector<bool> severalDefinitions; // [registers]
  std::vector<Step> steps;
  std::vector<uint32_t> firstStep; // [blocks + 1]
  std::vector<uint32_t> values;    // results and sources of the steps
  std::vector<CallSite> calls;
  uint32_t firstLocalCell = 0; // behind parameters, returns and the .param variables of the body
  uint32_t cellCount = 0;
  std::vector<ParameterNote> notes; // [parameters] of a kernel
  /// Registers whose definitions disagree about pointers, ascending; the tracer adds them as it finds them.
  std::vector<uint32_t> tracked;
  std::vector<uint32_t> disagreeing; // found since `tracked` was set
  std::vector<uint32_t> undefined;   // registers that steps read and no reachable instruction sets

  uint32_t returnCell(size_t i) const { return static_cast<uint32_t>(parameterCount + i); }
  bool isLocalCell(uint32_t cell) const { return cell >= firstLocalCell; }
};

} // namespace tenon::linker
