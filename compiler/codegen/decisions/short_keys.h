// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys of choices (dispatch/prepare/choice_keys.h) for rows of unknown length have place for any row that a memory
// holds: 48 bits beside a bf16, and of f32 none, whose best element and its place are two reductions. Most rows are
// shorter. A kernel for them has keys of 32 bits, of elements of 32 bits one reduction of 64.
//
//   f8, i8: 24 bits of place    bf16, f16, i16: 16    f32, i32: 32, in 64
//
// The program launches the one or the other, as it does with other kernels of rows of any length.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::codegen {

/// Makes the keys of a kernel function shorter.
/// @return how many elements a row has then at most; nothing where there are no such keys, or others see them: the
///   function is not to be used any more
std::optional<int64_t> shortenKeys(mlir::func::FuncOp function);

} // namespace tenon::compiler::codegen
