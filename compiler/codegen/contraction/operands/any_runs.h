// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs of an operand's elements that begin anywhere in memory: those of rows that are no multiples of 16 bytes. Each is
// read as the two aligned vectors that hold it (kernel/straddling.h), where these lie inside of the tensor; at its
// ends, element by element. Behind the end of a row a run holds what begins the next one.
#pragma once

#include "compiler/codegen/contraction/tile_space.h"

namespace tenon::compiler::codegen {

/// Whether so many elements of the operand are read so: it is multiplied as it lies in memory, and its rows there are
/// those of one axis. Elements of four bytes and more are faster one by one (an H200: tf32 nt 62 x 787 x 527 22 us
/// instead of 34). Rows that are known to be whole vectors are not aligned where a tensor begins inside of one, which
/// is not worth the code.
bool haveRuns(const ProductKernel &kernel, const Operand &operand, uint32_t width);

/// Words of a run (i32), as they lie in memory.
using WordRun = llvm::SmallVector<mlir::Value, 4>;
/// The runs of so many bytes that begin at the elements with these numbers, all on their way at once. Behind the last
/// element of the tensor they hold that one again.
llvm::SmallVector<WordRun> readRuns(const ProductKernel &kernel, const Operand &operand,
                                    llvm::ArrayRef<mlir::Value> elements, uint32_t bytes);
/// The run with zeros in place of all but its first `bytes`.
WordRun firstOf(KernelBuilder &k, const WordRun &run, mlir::Value bytes);

} // namespace tenon::compiler::codegen
