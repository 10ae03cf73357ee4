// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise operations that read tensors by place: a concatenation, a pad, a gather of rows. Their elements lie in
// memory as in their result. Who wants them in another order gets them from a tensor that holds them: its kernel turns
// what it reads in shared memory, which elements read by place do not go through, and one access would bring one of
// them (an H200, a concatenation of 617 x 19 x 1779 bytes turned as it is put together: 8.0 ms; put together
// first: 1.3).
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// The loop along which the elements that it reads by place are adjacent, if it reads some and has enough of them
/// there.
std::optional<unsigned> loopOfPlaces(mlir::linalg::GenericOp op);

/// Whether `reader`, which is elementwise, has the elements of `operand` in another order than they are computed in.
bool turnsPlaces(mlir::OpOperand &operand);

/// Whether rows along one loop of an operation are so long that who writes along the other loop had better not read
/// them as they are.
bool turnsFar(mlir::linalg::GenericOp op, unsigned from, unsigned to);

/// Whether an elementwise operation reads its operand in another order than it writes.
bool turnsOperand(mlir::linalg::GenericOp op);

} // namespace tenon::compiler::dispatch
