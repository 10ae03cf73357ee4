// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which tiles of 128 rows blocks of a chain compute, and in which order.
#pragma once

#include "compiler/codegen/attention/hopper/chain/chain_shape.h"

namespace tenon::compiler::codegen {

class ChainTiles {
public:
  ChainTiles(const AttentionKernel &kernel, const WarpgroupChainShape &shape);

  /// A block stays for several tiles: what it needs of the next one comes while results of this one are written. Of
  /// tiles with enough blocks of keys, where all have as many, of one head: which takes long nobody knows before.
  bool areTakenInTurn() const { return areTakenInTurn_; }
  /// All of them.
  mlir::Value count() const;
  /// Those that see most keys come first: where rows see different keys, those of some elements of the batch, as many
  /// as have enough tiles together, in turn. The last tiles are short then, and no block computes a long one alone.
  AttentionTile at(mlir::Value number) const;

private:
  mlir::Value sizeOf(llvm::ArrayRef<unsigned> axes) const;
  mlir::Value down() const;

  const AttentionKernel &kernel_;
  KernelBuilder &k_;
  bool areMasked_ = false;   // rows see different keys, by comparisons of indices
  bool isLower_ = false;     // the first rows see most
  bool haveColumns_ = false; // all of them
  bool areTakenInTurn_ = false;
};

} // namespace tenon::compiler::codegen
