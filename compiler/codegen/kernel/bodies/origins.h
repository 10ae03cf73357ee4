// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the values of a group's bodies come from. A group says the same thing in many ways: exp(x - m) in one operation
// that others read, or again in each of their bodies; x widened first, or where it is used. What asks whether two
// values are the same, or whether one is made of a reduction's result, follows them here.
#pragma once

#include "compiler/codegen/kernel/bodies/bodies.h"

namespace tenon::compiler::codegen {

/// A value in the body of an operation.
struct Place {
  const KernelOp *op;
  mlir::Value value;
};

class Origins {
public:
  Origins(const KernelFunction &kernel, const GroupShape &shape) : kernel_(kernel), shape_(shape) {}

  /// The operation of the group that computes it; null: none does.
  const KernelOp *opOf(mlir::Value value) const;
  /// The input that a body has as the place's value; null: it is none.
  static const KernelInput *inputOf(const Place &place);
  /// Where the value is computed, behind operations that hand it on, and behind those that only widen it.
  Place sourceOf(Place place) const;
  /// Whether both are the same number at each element.
  bool areSame(Place a, Place b) const { return areSame(a, b, 0); }
  /// Whether the value is computed from `reduction`, in its body or in those of operations that run once per row.
  bool isOf(const Place &place, const RowSum &reduction) const { return isOf(place, reduction, 0); }
  bool isReduction(const Place &place, const RowSum &reduction) const;

private:
  bool areSame(Place a, Place b, unsigned depth) const;
  bool isOf(const Place &place, const RowSum &reduction, unsigned depth) const;
  bool isSameInput(const Place &a, const Place &b) const;
  unsigned axisOf(const Place &place, mlir::linalg::IndexOp index) const;

  const KernelFunction &kernel_;
  const GroupShape &shape_;
};

} // namespace tenon::compiler::codegen
