// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maps of whoever takes all elements of a tensor, or some of them, each once.
#pragma once

#include "mlir/IR/AffineMap.h"

namespace tenon::compiler::dispatch {

/// Whether a map names each element that it reaches once: every dimension stands alone in one of its results, perhaps
/// moved by a number, as in a slice.
bool namesEachOnce(mlir::AffineMap map);

} // namespace tenon::compiler::dispatch
