// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor by its elements: linalg.generic without inputs, whose body knows where the element stands and reads what it
// wants with tensor.extract. Whatever moves elements (slices, pads, gathers) is first written so; what reads at affine
// places becomes an operand with an indexing map afterwards (affine_reads).
#pragma once

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallBitVector.h"

namespace tenon::compiler::input {

/// The value of the element at `indices` [rank].
using ElementFunction = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange indices)>;

/// A tensor of `type` whose dynamic dimensions measure `sizes` [rank], a constant or a value for each dimension.
mlir::Value buildElements(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
                          llvm::ArrayRef<mlir::OpFoldResult> sizes, ElementFunction element);

/// tensor.empty of `type`, its dynamic dimensions from `sizes` [rank].
mlir::Value buildEmpty(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
                       llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// An element of a tensor: what tensor.extract gives, without memory where all elements are the same or undefined.
mlir::Value readElement(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor, mlir::ValueRange indices);

/// Part of a tensor that is read by where an element of another one stands.
struct Window {
  mlir::Value tensor;
  llvm::SmallVector<mlir::OpFoldResult> sizes; // [rank]
  llvm::SmallVector<mlir::Value> places;       // [rank] indices into the tensor
  llvm::SmallBitVector guarded;                // [rank] those that may lie outside of it
  mlir::Value inside;                          // i1: none does; null where none can

  Window(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor);
  /// The next place; `condition` says where it is inside of the tensor, null means everywhere.
  void add(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value place, mlir::Value condition = {});
  /// The element where all conditions hold, elsewhere `outside`, or any element where that is null. No memory outside
  /// of the tensor is read, unless the tensor has no elements.
  mlir::Value read(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value outside);
};

/// Index arithmetic that leaves out what changes nothing.
mlir::Value addIndex(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::OpFoldResult b);
mlir::Value subtractIndex(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::OpFoldResult b);
mlir::Value multiplyIndex(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::OpFoldResult b);
/// Of two that are not negative.
mlir::Value divideIndex(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::OpFoldResult b);
mlir::Value remainderIndex(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::OpFoldResult b);
/// 0 <= a < b
mlir::Value isBelow(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::OpFoldResult b);
/// Both, where both are given.
mlir::Value both(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::Value b);

/// The integer as an index into a dimension of `size`, brought into it.
mlir::Value clampIndex(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value index, mlir::OpFoldResult size);

} // namespace tenon::compiler::input
