// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mlir/IR/BuiltinTypes.h"

namespace tenon::compiler::flow {

/// tensor<..xi1, #iree_encoding.packed_storage>: eight elements in a byte.
bool hasPackedStorage(mlir::RankedTensorType type);

} // namespace tenon::compiler::flow
