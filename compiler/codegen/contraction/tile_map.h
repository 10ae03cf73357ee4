// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tile of an operand as boxes of its tensor, which sm_90's tensor memory accelerator copies on its own: one thread
// asks, elements outside of the tensor are zeros, and the box arrives swizzled as `wgmma` reads it (operand_tile.h).
//
// Of the image of a convolution, image[n, 2 y + ky - 1, 2 x + kx - 1, c], a step has one place (ky, kx) of the window
// and some c. Its tile is a patch of results (patches.h), a box in the image that takes every second element; what lies
// before the image or behind it is zero.
#pragma once

#include "compiler/codegen/contraction/patches.h"

namespace tenon::compiler::codegen {

struct TileMap {
  /// A position of the tensor: a sum of positions of the space. Of an axis that is several dimensions it has the part
  /// position / behind % size.
  struct Dimension {
    struct Term {
      unsigned axis; // of the space
      int64_t factor;
      int64_t behind = 1, size = 0; // size 0: the outermost of its dimensions, or all of the axis
    };
    llvm::SmallVector<Term, 2> terms;
    int64_t offset = 0;
  };

  uint32_t binding = 0;
  mlir::Type element;                      // of the tensor; tf32: f32 that are rounded on their way
  llvm::SmallVector<Dimension> dimensions; // outermost first
  llvm::SmallVector<unsigned> axes;        // of each dimension that is one position of the space, else kNoAxis
  llvm::SmallVector<int64_t> box;          // [dimensions] elements
  llvm::SmallVector<int64_t> strides;      // [dimensions] from one element of the box to the next
  uint32_t boxes = 1;                      // in a tile, side by side across
  uint32_t across = 0;                     // positions of a box
  uint32_t boxesDeep = 1;                  // in a tile, behind each other along the reduced elements
  bool mayLack = false;                    // boxes of the last tile may have no position
  static constexpr unsigned kNoAxis = ~0U;
  std::optional<unsigned> expert; // of a routed product's weights: the dimension of their experts

  /// What all boxes of a tile bring.
  uint32_t bytes() const { return boxes * across * kRowBytes; }
  static constexpr uint32_t kRowBytes = 128; // of a step

  /// Where the box of a point begins. @param of the expert, where there are some
  llvm::SmallVector<mlir::Value> beginAt(KernelBuilder &k, const Point &point, mlir::Value of = {}) const;
  /// The same from the position on each axis.
  llvm::SmallVector<mlir::Value> beginAt(KernelBuilder &k, llvm::function_ref<mlir::Value(unsigned)> positionOn,
                                         mlir::Value of = {}) const;
  /// !hal.tensor_map<...>, as the kernel's layout declares it.
  mlir::Type type(mlir::MLIRContext *context) const;
};

/// By one lane: asks for the box at `place` in shared memory to be stored, or added to what is there. What lies outside
/// of the tensor is not written.
/// @param begin of the box (TileMap::beginAt)
void storeBox(KernelBuilder &k, mlir::Value map, llvm::ArrayRef<mlir::Value> begin, mlir::Value place,
              bool isAdded = false);

/// Nothing where the operand is computed, or where a tile of it is no boxes: its rows or its reduced elements are no
/// single dimension of the tensor (or several, outermost), and no patches either (rows: of the left operand). Reduced
/// elements may be several dimensions anywhere, of which steps have a part of the innermost, and so may the batch. No
/// loop is two dimensions of it, as of a diagonal. Of
/// an operand that lies across, a box is 128 bytes of neighbours, wherever the next ones lie. Rows of a routed product
/// are no box.
/// @param side positions across a tile; @param depth reduced elements of a step, 128 bytes of them
/// @param parts of a tile that are asked for one by one: the boxes of a tile are a multiple of them
std::optional<TileMap> mapOf(const GroupShape &shape, const Product &product, const Operand &operand, uint32_t side,
                             uint32_t depth, uint32_t parts = 1);

/// The same without boxes of positions that are not there. What lies outside of the tensor the copy makes zero itself,
/// at a tenth of the speed at which it brings the rest (5 ns for a row of 128 bytes, measured on an H100): 48 rows of
/// 64 take longer than a tile's product. So boxes of a tile that has all positions are as high as these are many; and
/// where the last of several tiles has only some, its boxes are of 64, and those without any are left out (`mayLack`).
/// What they would have brought stays what it was, and nobody needs it.
std::optional<TileMap> tightMapOf(const GroupShape &shape, const Product &product, const Operand &operand,
                                  uint32_t side, uint32_t depth, uint32_t parts = 1);

/// Columns whose places a stage has: those of a right operand that lies across, of 16 bits, come in boxes of 64.
uint32_t columnsOfStage(const Operand &right, uint32_t columns);

/// A result as boxes of so many rows and columns, which a warp writes at once; nothing where rows are no single
/// dimension of the tensor (or several, outermost), or columns are none.
std::optional<TileMap> resultMapOf(const GroupShape &shape, const Product &product, const KernelOp &op,
                                   const KernelTensor &tensor, uint32_t rows, uint32_t columns);

} // namespace tenon::compiler::codegen
