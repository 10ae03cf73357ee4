// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which loop of a sum of unknown size is taken apart (ragged_split.h), and in how many parts: as many as give a device
// enough blocks together with the results beside each other, of no fewer rows than are worth a launch.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// What decides about parts.
struct RaggedLimits {
  int64_t enough;      // blocks: a reduction that has so many is one part
  int64_t wanted;      // blocks of all parts
  int64_t least;       // rows of a part
  int64_t tile;        // adjacent results that a block computes; 1: one
  bool isLong = false; // no part is shorter than `least`, since the program computes what has fewer rows in one kernel
};

/// The loop that can be divided so: the outermost of the tensor in memory, and the only one that is reduced.
std::optional<unsigned> raggedLoopOf(mlir::linalg::GenericOp op);
/// The loop of which each position can be a part: of several that are reduced the outermost one of the tensor in
/// memory.
std::optional<unsigned> wholeLoopOf(mlir::linalg::GenericOp op);

/// Rows, parts, and rows of a part.
struct RaggedParts {
  mlir::Value size, parts, inPart;
};
RaggedParts raggedParts(mlir::OpBuilder &b, mlir::linalg::GenericOp op, unsigned loop, const RaggedLimits &limits);
/// Size of a loop, of which every one indexes some operand by itself: of the first tensor that has it.
mlir::Value loopSize(mlir::OpBuilder &b, mlir::linalg::GenericOp op, unsigned loop);

} // namespace tenon::compiler::dispatch
