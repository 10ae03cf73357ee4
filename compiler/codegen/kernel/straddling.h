// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A run of adjacent elements that starts at any address, read as two aligned vectors that hold it between them. Memory
// is read in vectors of 4, 8 or 16 bytes that lie at multiples of what they measure; a run of as many bytes from
// anywhere else lies in two of them. Both are loaded, and the run is shifted out of their words:
//
//   address      | low             | high            |
//   elements     | .  .  .  a  b  c  d  .  .  .  .  . |      the run a b c d, three elements behind the start of `low`
//
// A thread's `high` is mostly its neighbour's `low`, which a cache has by then. One load for each element would be as
// many instructions as there are elements, each of which asks for all the vectors of the warp.
#pragma once

#include "compiler/codegen/kernel/kernel_arguments.h"
#include "compiler/codegen/kernel/kernel_builder.h"

namespace tenon::compiler::codegen {

/// The words of the two vectors, and by how many bytes the run lies behind the start of the first.
struct Straddling {
  llvm::SmallVector<mlir::Value> words; // i32
  mlir::Value shift;                    // i32
};

/// Whether `width` elements of the tensor can be read so: nobody writes to it meanwhile, and they measure 4 to 16
/// bytes.
bool canStraddle(const KernelArguments &arguments, const KernelTensor &tensor, unsigned width);

/// Whether the aligned vectors that hold all runs of `bytes` from that at element `first` to that at element `last` are
/// inside of the tensor: nothing is read that is not its.
mlir::Value isInside(KernelBuilder &k, const KernelArguments &arguments, const KernelTensor &tensor, mlir::Value first,
                     mlir::Value last, unsigned bytes);

/// Both vectors of the run of `bytes` at the address; where it is aligned they are the same one.
Straddling loadStraddling(KernelBuilder &k, mlir::Value address, unsigned bytes, bool isStreamed);
/// Words (i32) as a vector of as many, and what a vector's bytes are as elements of a type.
mlir::Value vectorOfWords(KernelBuilder &k, mlir::ValueRange words);
llvm::SmallVector<mlir::Value> elementsOfVector(KernelBuilder &k, mlir::Value vector, mlir::Type element);
/// `count` words of those, from so many bytes (i32) behind the first on: fewer than those measure that are more.
llvm::SmallVector<mlir::Value> shiftedWords(KernelBuilder &k, mlir::ValueRange words, mlir::Value shift,
                                            unsigned elementBytes, unsigned count);
/// The words of the run.
llvm::SmallVector<mlir::Value> wordsOf(KernelBuilder &k, const Straddling &straddling, unsigned elementBytes);
/// Its elements, of the type that they have in memory.
llvm::SmallVector<mlir::Value> runOf(KernelBuilder &k, const Straddling &straddling, mlir::Type element);

} // namespace tenon::compiler::codegen
