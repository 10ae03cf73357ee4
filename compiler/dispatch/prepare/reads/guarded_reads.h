// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads that a select throws away. A gather that fills (JAX's x.at[i].get(mode="fill")), a border that is asked for
// element by element, a branch in a body: all come here as
//
//   %e = tensor.extract %x[%i]          // %i from memory: perhaps outside of the tensor
//   %r = arith.select %inside, %e, %fill
//
// where nobody looks at %e unless %inside holds. No memory may be touched then, whoever computes what in which kernel:
//
//   %j = arith.select %inside, %i, 0
//   %e = tensor.extract %x[%j]
//
// The condition may be anything, and need not be one of bounds. Where it holds, a place outside of the tensor is the
// error that it was; so is one that no select guards.
//
// Not guarded, and read as they are: places that something else keeps in a range (a clamp that does not end at the
// tensor's size), what more than four operations read, and what a reshape of more than dimensions of one parts from its
// select.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// Guards the places of such reads: in their bodies, and where the select is in the body of another operation, by its
/// condition, which the operation that reads gets as its own. Behind fusion, in front of groups.
/// @return whether an operation that several read is there once for each of them now: it may be fused.
bool guardReads(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
