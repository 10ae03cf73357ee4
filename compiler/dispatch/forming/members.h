// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operations that become one kernel, and their order in the block: all that reads one of them stands behind the
// last.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tenon::compiler::dispatch {

using Members = llvm::SmallVector<mlir::linalg::GenericOp>; // in the order of the block

/// The softmaxes that members read of others: they are inside, too.
void addSoftmaxes(llvm::SmallPtrSetImpl<mlir::Operation *> &inside, const Members &members);

void sortByPosition(Members &members);

/// Everything that reads the group and stands before its last operation goes behind it, in the same order.
/// @return whether something was moved
bool moveReadersBehind(Members &members);

} // namespace tenon::compiler::dispatch
