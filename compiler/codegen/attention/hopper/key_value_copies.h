// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The producer of Hopper's attention: brings blocks of keys and values into the ring, for all tiles of the block, in
// the order in which consumers want them: K0 K1 V0 K2 V1 ... V(n - 1), K0 of the next tile. One thread asks by tensor
// maps; where there is none, or what is to be copied is not aligned, all threads copy elements.
#pragma once

#include "compiler/codegen/attention/hopper/warpgroup_block.h"

namespace tenon::compiler::codegen {

class KeyValueCopies {
public:
  explicit KeyValueCopies(WarpgroupBlock &block) : block_(block), k_(block.k) {}

  /// Whether maps, or vectors, can copy: the same for all tiles (i1).
  mlir::Value isFast();
  /// Threads that tell that a step has arrived.
  mlir::Value filling(mlir::Value isFast);
  /// What the producer does. A team of a warpgroup.
  void run(mlir::Value isFast);

private:
  /// copy(tile, key, step, whether it is keys): in the order of the ring. @return steps of all tiles
  mlir::Value forEachCopy(llvm::function_ref<void(const AttentionTile &, mlir::Value, mlir::Value, bool)> copy);
  mlir::Value isAligned(const AttentionTile &tile, const ProductKernel &kernel);
  void askForBoxes(const AttentionTile &tile, mlir::Value key, mlir::Value step, bool isKeys);
  void copyElements(const AttentionTile &tile, mlir::Value key, mlir::Value step, bool isKeys, bool isFast);
  void byElements(bool isFast);

  WarpgroupBlock &block_;
  KernelBuilder &k_;
};

} // namespace tenon::compiler::codegen
