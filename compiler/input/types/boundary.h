// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a public function takes and returns of elements that programs have no name for:
//
//   complex<f32>           pairs of f32 (f16, bf16) along one more dimension, the last: the real part first
//   i4, i2, ui4, f4E2M1FN  as many as fit in a byte of i8, along the last dimension, the first in the low bits; each
//                          row begins with a byte of its own, and what is left of its last one is 0
//   i24, f8E4M3FN, ui16    one in each integer of storage.h, narrow ones sign-extended
//   index                  index
//
// A row of unknown length that a function takes is as long as its bytes have room for.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::input {

/// Whether all that the function takes and returns may cross.
bool mayBePublic(mlir::func::FuncOp function);

/// Where calls of a public function would see its types change: what it does becomes a private function, which they and
/// it call. Null where nothing of that is needed.
mlir::func::FuncOp splitCalled(mlir::func::FuncOp function);

/// Gives a public function the types at its boundary. Values of index stay such: they are added to `kept`.
void convertBoundary(mlir::func::FuncOp function, llvm::SmallVectorImpl<mlir::Value> &kept);

/// flow.tensor.bitcast of elements that share bytes, such as i8 to two i4 each: the bytes are written out of the
/// elements, and elements out of the bytes.
void lowerPackedBitcasts(mlir::func::FuncOp function);

/// The tensor's bytes as another type, whose unknown sizes are the tensor's.
mlir::Value bitcastTensor(mlir::OpBuilder &builder, mlir::Value tensor, mlir::RankedTensorType type);

} // namespace tenon::compiler::input
