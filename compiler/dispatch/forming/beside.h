// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which groups may be one kernel though neither reads what the other computes.
#pragma once

#include "compiler/dispatch/forming/members.h"

namespace tenon::compiler::dispatch {

/// The operation with the most loops of a group that is so small that its launch takes longer than it does; null of any
/// other one.
mlir::linalg::GenericOp smallLeaderOf(const Members &members);

/// Whether all that a group does is to compute elements of one shape of known size from those at their places, and from
/// vectors.
bool isElementByElement(const Members &members);

/// Whether one kernel for two such groups moves so much less than two that it is worth more registers: of tensors that
/// both read as they lie, each is read once.
bool isWorthReading(const Members &first, const Members &second);

} // namespace tenon::compiler::dispatch
