// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known of the numbers of 64 rows, or of 64 keys, together (key_ranges.h): what they lie between, and which
// keys may have the numbers of some rows. It is computed in front of the kernels that read it, once for all of them.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <map>
#include <vector>

namespace tenon::compiler::dispatch {

/// Rows that have the same ranges.
inline constexpr int64_t kRangeRows = 64;

/// A tensor that rows, or keys, have an element of each.
struct RowNumbers {
  mlir::Value tensor;
  unsigned along;                              // its dimension over them
  llvm::SmallVector<unsigned> loops;           // of the logits, of each dimension
  llvm::SmallVector<llvm::StringRef, 2> casts; // by which the body reads it
};

class RangeTensors {
public:
  struct Tensor {
    mlir::Value value;
    llvm::SmallVector<unsigned> loops; // of the logits, over the batch; its last dimension are groups of 64
  };
  struct Extent {
    Tensor least, largest;
  };
  /// Keys, as i32: where the first is seen and the last ends, and those that all rows see.
  struct Bounds {
    Tensor from, to, wholeFrom, wholeTo;
  };

  const Extent &extentOf(mlir::linalg::GenericOp logits, const RowNumbers &numbers);
  /// Of rows that see keys with the same number.
  const Bounds &boundsOf(mlir::linalg::GenericOp logits, const RowNumbers &rows, const RowNumbers &keys);

private:
  using Key = std::vector<const void *>;
  static Key keyOf(mlir::linalg::GenericOp logits, const RowNumbers &numbers);
  std::map<Key, Extent> extents_;
  std::map<Key, Bounds> bounds_;
};

} // namespace tenon::compiler::dispatch
