// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which keys rows of a tile see, as far as the logits say it by comparing indices: causal masks, sliding windows,
// lengths.
//
//   logits = select(key <= row + shift, scaled, -inf)          keys behind the last row's are seen by none
//   logits = scaled + select(key < length[batch], 0, -inf)     ... or lie behind the length
//
// Conditions that all must hold, each a comparison that a key passes up to some key (or from some on), which does not
// go down from row to row. Blocks of keys that no row sees are not computed; in blocks that every row sees whole,
// conditions hold, and nobody asks. What is said otherwise (ids of documents, a mask in memory) is computed for each
// logit.
//
// Hidden by -inf, a key has the weight 0, and so it has in a chain where the weight, or a factor of it, is 0; no key is
// multiplied there, not even an infinite one, and where all keys of a row are hidden its result is 0. Hidden by a large
// negative number, it has one that rounds to 0, unless all keys of the row are hidden: where no key is seen by all rows
// of a tile, which would say that each sees one, all keys are computed.
#pragma once

#include "compiler/codegen/attention/attention_kernel.h"

namespace tenon::compiler::codegen {

class KeyRange {
public:
  /// Of a tile that begins at the first row of `tile` and has `rows`; keys are computed in blocks of `keys`.
  /// @param isOfHead those of one head, where keys are of several: in each of them the same. Else they are the keys of
  ///   all heads, one head behind the other, and none is left out.
  KeyRange(const AttentionKernel &kernel, const ProductKernel &scores, const AttentionTile &tile, uint32_t rows,
           uint32_t keys, bool isOfHead = false);

  /// Of the blocks, those of one of several parts as large as each other; the last ones may have fewer, or none.
  void takePart(mlir::Value part, uint32_t parts);
  /// Of the blocks, those that another range has, too.
  void takeThoseOf(const KeyRange &other);
  /// Where blocks begin and end, multiples of `keys`; `last` may lie behind the last key.
  mlir::Value first() const { return first_; }
  mlir::Value last() const { return last_; }
  /// Blocks in order: where some begin and end, and whether all rows see all of their keys, as far as comparisons of
  /// indices say it: what else hides keys is asked in all of them.
  struct Segment {
    mlir::Value first, last; // multiples of `keys`, but for the last key
    bool isWhole;
  };
  llvm::SmallVector<Segment> segments() const;
  /// Logits of a block of a segment, of which runs are a part; whoever computes softmax multiplies them by what it
  /// returns.
  double computeLogits(TileSpace &space, llvm::MutableArrayRef<LogitRun> runs, bool isWhole) const;
  /// The same of any block, where softmax multiplies by nothing.
  void computeLogits(TileSpace &space, mlir::Value firstKey, llvm::MutableArrayRef<LogitRun> runs) const;
  /// Weights of a chain, of a block of a segment: those of keys behind the last one, where the block may end there, are
  /// anything.
  void computeWeights(TileSpace &space, llvm::MutableArrayRef<LogitRun> runs, bool isWhole, bool mayEnd) const;
  /// The last block may lack keys.
  bool mayEnd() const { return mayEnd_; }
  /// Comparisons of indices hide keys.
  bool mayHide() const { return hasLower_ || hasUpper_; }
  /// ... the last ones, of some row. Else nothing but the number of keys hides any there.
  bool mayHideLast() const { return hasUpper_; }
  /// Which blocks need no comparison.
  bool isKnown() const { return isKnown_; }
  /// Where nothing hides keys, logits are scores times a number.
  bool isScaled() const { return scale_.has_value(); }
  /// What a product over no keys at all is: 0, not 0 / 0.
  mlir::Value orNothing(mlir::Value result) const;

private:
  void assumeHolding(bool isWhole) const;
  void computeLogitsHere(TileSpace &space, llvm::MutableArrayRef<LogitRun> runs, bool isWhole) const;
  bool hideScores(TileSpace &space, llvm::MutableArrayRef<LogitRun> runs) const;
  void limit(mlir::Value tileRow, uint32_t rows, TileSpace &space);
  void take(mlir::Value first, mlir::Value last);

  const AttentionKernel &kernel_;
  KernelBuilder &k_;
  const uint32_t keys_;
  mlir::Value count_; // of all keys
  mlir::Value first_, last_;
  mlir::Value wholeFrom_, wholeTo_; // keys between them no comparison hides; null: there is none
  llvm::SmallVector<std::pair<mlir::Value, bool>> holding_; // what conditions are there
  llvm::SmallVector<std::pair<mlir::Value, bool>> always_;  // ... and in all blocks
  bool hasLower_ = false, hasUpper_ = false;                // bounds
  bool mayEnd_ = true;                                      // the last block may lack keys
  std::optional<double> scale_;                             // of scores, where it is all that is done with them
  mlir::Value shown_;                                       // of the body: such a logit, where -inf hides others
  bool isKnown_ = true;                                     // which blocks need no comparison
};

} // namespace tenon::compiler::codegen
