// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tile of an operand as boxes of its tensor, which sm_90's tensor memory accelerator copies on its own: one thread
// asks, elements outside of the tensor are zeros, and the box arrives swizzled as `wgmma` reads it (operand_tile.h).
#pragma once

#include "compiler/codegen/contraction/product.h"

namespace tenon::compiler::codegen {

struct TileMap {
  uint32_t binding = 0;
  mlir::Type element;               // of the tensor; tf32: f32 that are rounded on their way
  llvm::SmallVector<unsigned> axes; // of the space: that of each dimension of the map, outermost first
  llvm::SmallVector<int64_t> box;   // [dimensions] elements
  uint32_t boxes = 1;               // in a tile, side by side across
  uint32_t across = 0;              // positions of a box

  /// !hal.tensor_map<...>, as the kernel's layout declares it.
  mlir::Type type(mlir::MLIRContext *context) const;
};

/// Nothing where the operand is computed, or where its rows or its reduced elements are no single dimension of the
/// tensor (or several, outermost).
/// @param side positions across a tile; @param depth reduced elements of a step, 128 bytes of them
/// @param parts of a tile that are asked for one by one: the boxes of a tile are a multiple of them
std::optional<TileMap> mapOf(const GroupShape &shape, const Product &product, const Operand &operand, uint32_t side,
                             uint32_t depth, uint32_t parts = 1);

} // namespace tenon::compiler::codegen
