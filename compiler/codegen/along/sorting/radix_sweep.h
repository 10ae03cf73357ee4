// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lines that no block holds, sorted digit after digit from the lowest; every step keeps the order of equal digits. A
// step reads each item once and writes it once ("Onesweep", Adinets and Merrill, 2022):
//
//   Clear   sets counts and tickets to 0
//   Count   counts how often each value of each digit is in a line: keys are read once for all digits
//   Move    for each digit: a block sorts a tile of the line by it, finds out what earlier tiles have of each value,
//   and
//           moves its items to where they belong
//
// What earlier tiles have a block learns by looking back: each tile says first how many it has of each value itself,
// and as soon as it knows, how many all tiles up to it have. A block adds up the former from the tile before its own
// backwards, until it finds the latter. It waits for tiles that have not said anything yet, so tiles are given out by a
// ticket: who waits for a tile knows that a block has it already. Only numbers are waited for, and sums of integers:
// the result depends on neither the order of blocks nor their timing.
//
// Steps read from one set of scratch memory and write to the other.
#pragma once

#include "compiler/codegen/along/lines/along.h"
#include "compiler/codegen/along/sorting/radix_key.h"

namespace tenon::compiler::codegen {

/// Adds the kernels, and the memory that they share. `position`: an integer that holds a place in a line; `guards` say
/// of which lines they are.
void addRadixSweep(AlongPlans &plans, const KernelFunction &kernel, const RadixKey &key, mlir::IntegerType position,
                   llvm::ArrayRef<Guard> guards);

/// How many items a block sorts at once.
int64_t radixTile(const KernelFunction &kernel, const RadixKey &key, mlir::IntegerType position);

/// Whether a kernel is one of those; writes it.
bool isRadixSweep(const AlongWriter &writer);
void writeRadixSweep(AlongWriter &writer);

} // namespace tenon::compiler::codegen
