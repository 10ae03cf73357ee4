// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of a reduction of known size, all as long: x[p, r] seen as [p, s, c] is summed over c, then over s
// (split_reductions.h). A sum around a center that is made of another sum takes the parts of that one
// (centred_sums.h).
#pragma once

#include "compiler/dispatch/splits/centred_sums.h"

#include "llvm/ADT/DenseMap.h"

namespace tenon::compiler::dispatch {

/// Loop `loop` is divided into `parts`; where that is its whole size, it becomes parallel itself.
struct Split {
  unsigned loop;
  int64_t parts;
  int64_t size;  // of the loop
  bool isAcross; // adjacent elements belong to different results
  bool isWhole() const { return parts == size; }
};

/// How a sum was taken apart that variances are centred by.
struct SplitSum {
  Split split;
  mlir::Value partial;                             // its parts' sums
  llvm::DenseMap<mlir::Value, mlir::Value> viewOf; // tensors in parts
};

/// A sum around a center, and the parts of the sum that the center is made of.
struct CentredParts {
  CentredSum sum;
  SplitSum plain;
};

/// Divides it. Nothing where it has to stay whole.
/// @param centred the sum around a center that it is, if it is one whose other sum was divided
std::optional<SplitSum> splitKnown(mlir::linalg::GenericOp op, const Split &split,
                                   const CentredParts *centred = nullptr);

/// Divides it by several loops, one after the other, whose parts one operation adds up. All but the last are whole:
/// they leave the others their numbers.
void splitInTurn(mlir::linalg::GenericOp op, llvm::ArrayRef<Split> splits);

/// A sum of parts that are sums of parts themselves becomes one sum of all of them.
/// @param outer adds up what `parts`, a sum of parts, has
void mergeSums(mlir::linalg::GenericOp outer, mlir::linalg::GenericOp parts);

} // namespace tenon::compiler::dispatch
