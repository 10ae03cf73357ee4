// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks that compare a number that each row has with one that each key has, or with the key's index: documents that are
// packed into one sequence, where rows of a document see its keys alone.
//
//   logits[i, j] = seen ? score : -inf      seen: document[i] == document[j], or first[i] <= j, or j < end[i]
//
// Which blocks of keys some rows see does not follow from their indices. So it is computed before, in a few small
// kernels, for each 64 rows: the keys behind which none is seen, and keys all of which all of these rows see. The mask
// says it, too, and means what it meant:
//
//   seen = from[t] <= j < to[t] and (document[i] == document[j] or whole[t] <= j < wholeEnd[t])      t = i / 64
//
// Of documents it is found by what their numbers in 64 rows, and in 64 keys, lie between: where the two ranges do not
// meet, nothing is equal. That is right for numbers in any order, and says most where they are sorted.
// codegen/attention/hiding.h reads it.
#pragma once

#include "compiler/dispatch/attention/forms/range_tensors.h"

namespace tenon::compiler::dispatch {

/// On the condition that is `seen`, or its contrary.
inline constexpr llvm::StringLiteral kKeyRange = "tenon.key_range";
/// Types of fewer bits do not hold every index.
inline constexpr unsigned kIndexBits = 32;

class KeyRanges {
public:
  /// Says it in the body of what computes logits, or the weights of a chain: its last loop is that of the keys.
  /// @param rows its loops over rows
  void addTo(mlir::linalg::GenericOp logits, llvm::ArrayRef<unsigned> rows, bool isChain);

private:
  bool addDocuments(mlir::linalg::GenericOp logits, mlir::arith::CmpIOp comparison, llvm::ArrayRef<unsigned> rows,
                    bool seen);
  bool addLimits(mlir::linalg::GenericOp logits, mlir::arith::CmpIOp comparison, llvm::ArrayRef<unsigned> rows,
                 bool seen);

  RangeTensors tensors_;
};

} // namespace tenon::compiler::dispatch
