// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Axes of a group that lie one in the other wherever something is read or written are one axis of its kernel: then a
// vector goes on where the inner one ends, and a place takes one number instead of two.
//
//   y[i, j] = x[i, j] + z[i, j]        i and j are one axis
//   y[i, j] = x[i, j] + z[j, i]        they are two
//   y[i, j] = x[i, j] + z[j]           two as well: z has no place for the first
#pragma once

#include "compiler/codegen/kernel/kernel_function.h"
#include "compiler/dispatch/analysis/groups/group.h"

namespace tenon::compiler::codegen {

/// An operation that reads or writes a tensor at the loops of its map.
struct Access {
  mlir::linalg::GenericOp op;
  const KernelTensor *tensor;
};
/// Results first: the order of the axes is that of what is written.
llvm::SmallVector<Access> accessesOf(const KernelFunction &kernel);

/// The loop of an operation that is an axis of the group, if one is.
std::optional<unsigned> loopOn(const dispatch::Group &group, mlir::linalg::GenericOp op, unsigned axis);
/// The dimension of a tensor that a loop alone indexes, if one is.
std::optional<unsigned> dimensionOn(mlir::AffineMap map, unsigned loop);
/// Whether two sizes are known to be the same.
bool areEqual(const Extent &a, const Extent &b);

/// Whether all operations have both axes or neither, and all tensors both as neighbouring dimensions, or neither.
/// @param mayEnd tensors may also have the outer one alone
bool areOne(const dispatch::Group &group, llvm::ArrayRef<Access> accesses, unsigned outer, unsigned inner, bool mayEnd);
/// Whether bodies read neighbours on two axes as neighbours, wherever they read by place: of what is no product.
bool areReadTogether(const KernelFunction &kernel, const dispatch::Group &group, unsigned outer, unsigned inner);

/// Whether a body reads tensors by itself, at places that it computes from the loop's index: neighbours are adjacent
/// there if they are in the loop.
bool readsByIndex(mlir::linalg::GenericOp op, unsigned loop);
/// Whether the places that some body reads depend on the axis.
bool isReadByIndex(const dispatch::Group &group, unsigned axis);
/// Whether a body reads a tensor at each place of the axis, side by side.
bool isReadAlong(const dispatch::Group &group, unsigned axis);

} // namespace tenon::compiler::codegen
