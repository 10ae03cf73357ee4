// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which parameters of a kernel are pointers, and where pointers stand in structs that it takes by value. PTX says of a
// parameter how wide it is; that it is a pointer shows where memory is reached from it:
//
//   8 bytes            a pointer where an address is made of it and of no other parameter (or `.ptr` says so), or of
//                      one of several that the kernel chooses from; also where a mask takes a tag off before
//   a struct           each 8 bytes that the kernel loads from it at a multiple of 8 are looked at as if they were a
//                      parameter of their own; where it computes the place (a table of pointers), each of the 8 bytes
//                      from the table's begin on of which it loads no part by itself
//   one address made of several of them, none of which is a pointer elsewhere: the first one is (`base + offset`)
#pragma once

#include "linker/access/parameter_slot.h"
#include "linker/access/trace/kernel_trace.h"
#include "ptx/module.h"

#include <vector>

namespace tenon::linker {

class ModuleTracer;

struct PointerSearch {
  struct Struct {
    uint32_t parameter = 0;
    std::vector<size_t> pointers; // slots, in the order of their offsets
  };
  ParameterSlots slots; // one for each parameter, in order; then those of pointers in structs
  KernelTrace trace;    // of these slots
  std::vector<Struct> structs;
  std::vector<bool> isTable; // [parameters] structs of which the kernel computes what it reads

  bool isPointer(size_t parameter) const { return slots[parameter].isPointer; }
  const SlotAccess &access(size_t slot) const { return trace.slots[slot]; }
  /// The pointers in a struct; null: it has none.
  const Struct *structOf(size_t parameter) const;
};

/// 8 bytes, and neither an array of bytes nor a double.
bool isPointerWide(const ptx::Variable &parameter);
/// Bytes by value: a struct, an array in one, a tensor map, a .b128; 2 bytes are how C++ passes __half.
bool isAggregate(const ptx::Variable &parameter);

/// @param entry  a kernel with a body, of the tracer's module
PointerSearch findPointers(const ptx::Function &entry, ModuleTracer &tracer);

} // namespace tenon::linker
