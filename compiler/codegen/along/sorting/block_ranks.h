// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the items of a block go when they are sorted by a digit: behind all of smaller digits, and behind those of the
// same digit that come before them. Each warp counts its own digits, item after item: lanes that have the same digit
// find each other by votes. What all warps before it have counted is added up once.
#pragma once

#include "compiler/codegen/along/sorting/radix_key.h"

namespace tenon::compiler::codegen {

/// What the threads before this one have, added up, and what all have. All threads of the block call it; `sums` is
/// shared memory of as many integers as there are warps.
struct BlockSum {
  mlir::Value before, all;
  static BlockSum of(KernelBuilder &k, mlir::Value value, mlir::Value sums);
};

class BlockRanks {
public:
  /// The block has at most kDigits threads, whole warps; each has so many items.
  BlockRanks(KernelBuilder &k, unsigned items);

  /// Number of an item of this thread, i64: warps lie one behind the other, lanes of an item side by side.
  mlir::Value number(unsigned item);
  /// The items' places, i64. All threads call it with digits (i32) of all their items.
  llvm::SmallVector<mlir::Value> of(llvm::ArrayRef<mlir::Value> digits);
  /// The first place of a digit (i64), behind of(), until the next; of kDigits it is the number of items.
  mlir::Value start(mlir::Value digit);

private:
  mlir::Value countAt(mlir::Value warp, mlir::Value digit);
  mlir::Value word(int64_t value);
  mlir::Value position(mlir::Value word);

  KernelBuilder &k_;
  unsigned items_;
  mlir::Value counts_, starts_, sums_, warp_, lane_;
};

} // namespace tenon::compiler::codegen
