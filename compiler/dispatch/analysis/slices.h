// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that compute nothing, and maps of whoever takes all elements of a tensor, or some of them, each once.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AffineMap.h"

namespace tenon::compiler::dispatch {

/// Whether a map names each element that it reaches once: every dimension stands alone in one of its results, perhaps
/// moved by a number, as in a slice.
bool namesEachOnce(mlir::AffineMap map);

/// Whether each element of its one result is one of what it reads, wherever that stands: its maps say from where to
/// where.
bool isCopy(mlir::linalg::GenericOp op);

} // namespace tenon::compiler::dispatch
