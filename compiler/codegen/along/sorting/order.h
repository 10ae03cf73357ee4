// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of a sort or a top-k: that of the operation's region, and of elements that it does not tell apart, the
// order in which they stood. So no two are equal, and what comes out does not depend on how it is computed.
//
// A comparison of floats, as most regions are, puts NaN behind every number: by itself it would tell NaN from nothing,
// and there would be no order.
#pragma once

#include "compiler/codegen/along/lines/along.h"

namespace tenon::compiler::codegen {

/// An element with what the region looks at of it, and where it stood (unsigned). One at kNowhere is none, and comes
/// behind all.
struct Entry {
  llvm::SmallVector<mlir::Value> keys;
  mlir::Value position;
};

class ElementOrder {
public:
  /// @param positionType i32 or i64
  ElementOrder(AlongWriter &w, mlir::Type positionType);

  /// Operands whose elements the region looks at, by number; their types.
  llvm::ArrayRef<unsigned> keys() const { return keys_; }
  llvm::ArrayRef<mlir::Type> keyTypes() const { return types_; }
  mlir::Type positionType() const { return positionType_; }

  mlir::Value nowhere();
  /// An entry that is none.
  Entry none();
  mlir::Value exists(mlir::Value position);
  mlir::Value precedes(const Entry &a, const Entry &b);
  /// The same where both exist and `a` stood behind `b`.
  mlir::Value overtakes(const Entry &a, const Entry &b);

private:
  mlir::Value before(const Entry &a, const Entry &b);

  AlongWriter &w_;
  KernelBuilder &k_;
  mlir::Type positionType_;
  llvm::SmallVector<unsigned> keys_;
  llvm::SmallVector<mlir::Type> types_;
};

/// Entries in shared memory, sorted by all threads of the block.
class SharedEntries {
public:
  SharedEntries(AlongWriter &w, ElementOrder &order, uint64_t capacity);

  Entry load(mlir::Value at);
  void store(mlir::Value at, const Entry &entry);
  /// Sorts the first 2^bits. All threads call it; they wait for each other before and behind.
  void sort(mlir::Value bits);

private:
  KernelBuilder &k_;
  ElementOrder &order_;
  llvm::SmallVector<mlir::Value> keys_;
  mlir::Value positions_;
};

/// The least b with 2^b >= count, as i64; of 0 and 1 it is 0.
mlir::Value bitsFor(KernelBuilder &k, mlir::Value count);
mlir::Value shiftLeft(KernelBuilder &k, mlir::Value value, mlir::Value by);

} // namespace tenon::compiler::codegen
