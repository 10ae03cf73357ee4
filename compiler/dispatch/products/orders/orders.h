// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Orders in which the dimensions of tensors lie, where one tensor is read beside another, or is a reshape of it.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallBitVector.h"

#include <optional>

namespace tenon::compiler::dispatch {

/// Dimensions of the tensor as the program has it, in the order they are to lie.
using Order = llvm::SmallVector<int64_t>;
/// For each dimension of a tensor the parallel loops that move it.
using LoopSets = llvm::SmallVector<llvm::SmallBitVector>;

LoopSets loopsOf(mlir::AffineMap map, mlir::linalg::GenericOp op);
LoopSets loopsOf(mlir::tensor::ExtractOp read, mlir::linalg::GenericOp op);

/// The order of a tensor that an operation goes through beside another one of that order; nothing where they have other
/// dimensions. One pair that no loop moves, such as that of a single image, belongs together.
std::optional<Order> orderBeside(llvm::ArrayRef<int64_t> order, const LoopSets &from, const LoopSets &to);

/// Whether it is one that makes groups of dimensions, or takes them apart; null is none.
bool isReshape(mlir::Operation *op);

/// The dimensions of each of its groups.
llvm::SmallVector<mlir::ReassociationIndices> partsOf(mlir::Operation *reshape);

/// The order of what a reshape makes (`isOfSource`: `order` is that of its source), or is made of; nothing where a
/// group's dimensions would not lie one behind the other.
std::optional<Order> orderThrough(mlir::Operation *reshape, llvm::ArrayRef<int64_t> order, bool isOfSource);

} // namespace tenon::compiler::dispatch
