// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the transients of a function lie in one block of memory, decided when the program is compiled.
//
//   b2: 4n bytes, commands 0 to 1      unit = align(4n, 256)      b2 at 0
//   b3: 8n bytes, commands 1 to 2                                 b3 at unit
//   b4: 4n bytes, commands 2 to 3                                 b4 at 0            arena: 3 * unit
//
// Sizes are registers, so offsets are too: the runtime computes them with the other registers of a call and searches
// for nothing. A size is a number of bytes, or such a number times a product of dimensions. Transients with the same
// product form a family, in which offsets are whole multiples of a unit, found as for plain numbers: the largest first,
// each at the lowest offset that is free during its lifetime. Families of which one ends before the other begins share
// their memory.
#pragma once

#include "compiler/host/program/program.h"

namespace tenon::compiler::host {

/// Offsets are multiples of this (kBufferAlignment of the runtime).
constexpr int64_t kArenaAlignment = 256;

/// Gives every transient that commands use and that no result or expectation is a place in the arena, and the function
/// the arena's size. Without such a transient the function has no arena.
void layOutArena(Function &function);

} // namespace tenon::compiler::host
