// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gates: columns of a product of which several, far from each other, make one element. A recurrent cell multiplies its
// state by one matrix that holds those of its gates below each other, and its next state is computed from one column
// of each. Such a product has its gates as a dimension of its own, the last of its result (dispatch/products/gates.h):
//
//   p[b, u, g] += h[b, k] * w[g, u, k]
//   c[b, u]     = f(p[b, u, 0], p[b, u, 1], p[b, u, 2], p[b, u, 3])
//
// Both are one group. What runs over its other parallel axes reads gates by their numbers.
#pragma once

#include "compiler/dispatch/analysis/groups/gate_loop.h"
#include "compiler/dispatch/analysis/groups/group.h"

namespace tenon::compiler::dispatch {

/// The axis of the group that the gates are; nothing where it has none.
std::optional<unsigned> gatesAxisOf(const Group &group);
/// The number of the gate that an operand is, of an operation that does not run over them; nothing of other operands.
std::optional<unsigned> gateOf(const Group &group, mlir::OpOperand &operand);
/// Whether an operation of the group reads gates by their numbers: then nothing that runs over them may be stored.
bool readsGates(const Group &group);

} // namespace tenon::compiler::dispatch
