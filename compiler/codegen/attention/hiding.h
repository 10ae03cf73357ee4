// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a body hides logits: the comparisons of indices that all must hold where a logit is not hidden (key_range.h).
#pragma once

#include "compiler/codegen/attention/attention_kernel.h"

namespace tenon::compiler::codegen {

/// One comparison: the logit is hidden unless difference = x - y passes, which grows by one from key to key.
struct KeyBound {
  mlir::arith::CmpIOp comparison;
  bool holds;       // the comparison is true where the logit is seen; else it is false
  mlir::Value x, y; // of the body
  bool isUpper;     // seen: x - y < 0, else > 0
  bool orEqual;     // or equal
  bool followsRows; // falls by one from row to row; else it does not depend on them
};

/// Keys that rows see, as it was computed before for 64 of them at a time (dispatch/attention/forms/key_ranges.h): none
/// but from `from` to `to`, and of those from `wholeFrom` to `wholeTo` all.
struct RowRange {
  mlir::Value from, to, wholeFrom, wholeTo; // of the body
  mlir::Value isWhole;                      // of the body: holds where the rows see a key for that reason
};

/// A comparison of indices that keys have no part in: where it fails, a row sees none.
struct RowBound {
  mlir::arith::CmpIOp comparison;
  bool holds; // as of a KeyBound
};

struct Hiding {
  llvm::SmallVector<KeyBound> bounds;
  llvm::SmallVector<RowRange> ranges;
  llvm::SmallVector<RowBound> rowBounds;
  llvm::SmallVector<std::pair<mlir::Value, bool>> always;  // of the body: conditions that need not be looked at
  llvm::SmallVector<std::pair<mlir::Value, bool>> inWhole; // ... where all keys of a block are seen
  bool isWhole = false;                                    // there are no other conditions
  bool weighsNothing = false; // what is hidden has the weight 0: by -inf, or of a chain, by 0
  bool isOnly = false;        // nothing else chooses between two numbers
  mlir::Value shown;          // of the body: the logit where it is not hidden

  bool areNone() const { return bounds.empty() && ranges.empty() && rowBounds.empty() && always.empty(); }
  /// Whether other rows may see other keys.
  bool followRows() const {
    return !ranges.empty() || !rowBounds.empty() ||
           llvm::any_of(bounds, [](const KeyBound &bound) { return bound.followsRows; });
  }
};

/// Rows of a head, where heads share their keys, tiles have rows of several of them, and comparisons of indices are of
/// all rows of a head then (Attention::tilesWrap).
std::optional<int64_t> wrappedRows(const GroupShape &shape, const Attention &attention, uint32_t rows);

/// What hides the logits; nothing where no such comparison is known. `rows`: of a tile.
std::optional<Hiding> hidingOf(const GroupShape &shape, const Attention &attention, uint32_t rows);

/// Whether the same comparisons hide the keys of all parts of twins.
bool hideTheSame(const GroupShape &shape, llvm::ArrayRef<Attention> parts, uint32_t rows);

/// Whether no more is done with scores than to scale them and to hide keys by comparisons of indices.
bool isPlain(const GroupShape &shape, const Attention &attention, uint32_t rows);

/// What a score is multiplied by, where a logit that is not hidden is that and nothing else: more than 0.
std::optional<double> scaleOf(const Attention &attention, const std::optional<Hiding> &hiding);

} // namespace tenon::compiler::codegen
