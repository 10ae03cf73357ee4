// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a body reads tensors by index: in them for certain, at places that its loops say, or anywhere.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// What a value of the body is computed from: loops, and whether elements of tensors.
struct ReadSources {
  llvm::SmallDenseSet<unsigned, 4> loops;
  bool hasElements = false;

  ReadSources(mlir::Value value, mlir::linalg::GenericOp op);
};

enum class ReadPlace { Inside, OfLoops, Anywhere };

/// @param size of the dimension that `index` is of; ShapedType::kDynamic: it is not known
ReadPlace placeOf(mlir::Value index, int64_t size, mlir::linalg::GenericOp op);

} // namespace tenon::compiler::dispatch
