// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tile of an operand as boxes of its tensor, which sm_90's tensor memory accelerator copies on its own: one thread
// asks, elements outside of the tensor are zeros, and the box arrives swizzled as `wgmma` reads it (operand_tile.h).
#pragma once

#include "compiler/codegen/contraction/product.h"

namespace tenon::compiler::codegen {

struct TileMap {
  uint32_t binding = 0;
  mlir::Type element;
  llvm::SmallVector<unsigned> axes; // of the space: that of each dimension of the map, outermost first
  llvm::SmallVector<int64_t> box;   // [dimensions] elements
  uint32_t boxes = 1;               // in a tile, side by side across

  /// !hal.tensor_map<...>, as the kernel's layout declares it.
  mlir::Type type(mlir::MLIRContext *context) const;
};

/// Nothing where the operand is computed, or where its rows or its reduced elements are no single dimension of the
/// tensor (or several, outermost).
/// @param side positions across a tile; @param depth reduced elements of a step, 128 bytes of them
std::optional<TileMap> mapOf(const GroupShape &shape, const Product &product, const Operand &operand, uint32_t side,
                             uint32_t depth);

} // namespace tenon::compiler::codegen
