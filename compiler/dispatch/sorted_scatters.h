// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scatters whose updates may name a place twice, and of which the order counts: sums of floats, or a last one that
// stays. Few updates are combined in order by whoever owns a place, who reads the indices of all
// (codegen/along/scatter). Of many updates that reading is most of the time, so they are sorted first:
//
//   keys     the number of the slice that each update names; of a place outside, one more than there are
//   order    the numbers of the updates, sorted by key (iree_linalg_ext.sort, which keeps the order of equal keys)
//   scatter  gets both as two more inputs; updates of one slice lie side by side then (codegen/along/sorted_scatter)
#pragma once

#include "compiler/dialect/linalg_ext/LinalgExtOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// Whether atomic operations can combine the updates: integers, by an operation whose order does not matter.
bool combinesAtomically(linalg_ext::ScatterOp scatter);

/// Whether the last update of a place stays there, whatever stood there.
bool keepsTheLast(linalg_ext::ScatterOp scatter);

void sortScatters(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
