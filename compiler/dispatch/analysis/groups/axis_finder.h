// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ties loops of different operations into axes: where one reads what another computes, and, but for products of an
// attention, where two read the same element of one tensor, or have nothing to do with each other and the same loops.
#pragma once

#include "compiler/dispatch/analysis/groups/group.h"

#include "llvm/ADT/SetVector.h"

#include <string>

namespace tenon::compiler::dispatch {

/// Whether two operations that have nothing to do with each other may run in the same loops: of known sizes, in the
/// same order, and what they read and compute lies as their loops are, or is read by some of these.
bool runAlike(mlir::linalg::GenericOp x, mlir::linalg::GenericOp y);

class AxisFinder {
public:
  explicit AxisFinder(llvm::ArrayRef<mlir::linalg::GenericOp> ops);

  /// Fills `group` and `softmaxes`. False: they are no group, and `reason` says why.
  bool run(std::string &reason);

  Group group;                                  // its operations and their axes, none of them reduced yet
  llvm::SetVector<mlir::Operation *> softmaxes; // between operations of the group

private:
  unsigned axisOf(mlir::linalg::GenericOp op, unsigned loop) const { return axisOf_[firstLoop_.lookup(op) + loop]; }
  /// False where two loops of one operation would be one axis.
  bool join(unsigned a, unsigned b);
  /// Whether the loops that are this axis by now run over gates, which others read by their numbers (gates.h).
  bool isGates(unsigned axis) const;
  /// What an operation of the group computes is read where it is computed.
  bool tieToProducer(mlir::linalg::GenericOp op, mlir::OpOperand &operand, std::string &reason);
  /// Operations that read the same tensor read the same element of it, where nothing speaks against it: that x is in
  /// registers when x - max is computed is why softmax is one kernel.
  void tieReadersOfMemory();
  /// Last products of one chain have the same columns: what is computed from each of their results runs over all axes
  /// that are not reduced.
  bool tieTwins(std::string &reason);

  /// Parts of the group that have nothing to do with each other, and the same loops, run side by side: small vectors
  /// each of which would be a kernel, a launch, of its own.
  void tieBeside();

  llvm::DenseMap<mlir::Operation *, unsigned> firstLoop_;
  llvm::SmallVector<unsigned> axisOf_; // [loops of all operations]
};

} // namespace tenon::compiler::dispatch
