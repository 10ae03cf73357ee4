// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions that choose an element (choices.h), by many threads. Who wins depends on the elements and their order
// alone, so both are put into one number, the key: above, bits that are the larger the better the element; below, bits
// that are the larger the earlier it comes (the later, where the last of equals wins). The largest key is a reduction
// like others, and names the element: it is read again at its place, and the body computes the results from it.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::dispatch {

/// Replaces choices by reductions of keys. Where a row is too long for places to fit beside elements, the best element
/// is found first, then its place. Of unknown length any may be too long: parts of keys are marked (key_parts.h), for
/// kernels that know more.
void reduceChoicesByKeys(mlir::func::FuncOp function);

} // namespace tenon::compiler::dispatch
