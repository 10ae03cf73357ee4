// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments whose memory a caller gives up, so that a function may write it: a cache that grows by a row need not be
// copied.
//
//   func.func @append(%cache: tensor<8192x128xbf16> {tenon.donated}, ...) -> tensor<8192x128xbf16>
//
// What a function computes from such an argument may take its memory, once nobody reads the old value. A function that
// assigns to its arguments says so with hal.tensor.alias. From there to the program's commands:
//
//   input/steps/read_donations   other compilers' names for it become this one
//   input/tensors/slices_over    a slice that is put into such a tensor is a scatter
//   dispatch/in_place            which result of a launch takes which operand's memory
//   host                         no copy there, and which inputs the function writes
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler {

// On an argument of a function that callers see.
inline constexpr llvm::StringLiteral kDonatedAttr = "tenon.donated";

// On a flow.dispatch: for each of its results the number of the operand whose memory it takes, or -1. Nobody reads that
// operand behind the launch, and nobody else holds it; launches of one kernel in several steps all have it.
inline constexpr llvm::StringLiteral kInPlaceAttr = "tenon.in_place";
// On a flow.dispatch: it does nothing but copy into its result what it starts from. Where that is in place there is no
// such launch.
inline constexpr llvm::StringLiteral kCopiesStartAttr = "tenon.copies_start";

/// Whether the memory of an argument is given up: it is donated, or assigned to.
bool isGivenUp(mlir::BlockArgument argument);

/// Whether an operation of the host looks at a tensor when its block is done.
bool readsAtEnd(mlir::Operation *op);

/// Whether result i of the operation is operand i under another type or name: no bytes move.
bool isRename(mlir::Operation *op);
/// What `tensor` is another name of, in the end.
mlir::Value withoutRenames(mlir::Value tensor);

} // namespace tenon::compiler
