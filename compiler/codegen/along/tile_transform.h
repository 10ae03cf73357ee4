// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// iree_linalg_ext.tile_transform: L d L^T for each tile of each channel, as convolutions by Winograd's want it
// (dispatch/winograd).
//
// A thread has a tile of a channel in registers: it reads all of it, multiplies by L from both sides, and writes all
// that comes of it. L is a constant, and zeros and ones of it cost nothing. Threads are numbered as planes lie, so that
// what a warp reads or writes of planes is one line, and so is what it reads or writes of an image whose channels are
// last. Of an image whose rows are, neighbours have neighbouring tiles, and write each row of theirs as one vector.
// Filters whose window comes last go through shared memory, and so do tiles of an image whose channels come first where
// planes have them last.
#pragma once

#include "compiler/codegen/along/lines/along.h"

namespace tenon::compiler::codegen {

class TileTransform : public AlongStrategy {
public:
  llvm::StringRef name() const override { return "tile_transform"; }
  bool takes(mlir::Operation *op) const override;
  AlongPlans plans(const KernelFunction &kernel) const override;
  void write(AlongWriter &writer) const override;
};

} // namespace tenon::compiler::codegen
