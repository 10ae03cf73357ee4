// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel runs over. The group's axes (dispatch/analysis/groups/group.h) that every tensor has side by side are
// one here: a sum of two [64, 128, 256] tensors runs over one axis of 2097152 positions, and an index costs no
// division. Known when a strategy is chosen, before anything is written.
#pragma once

#include "compiler/codegen/kernel/kernel_arguments.h"
#include "compiler/dispatch/analysis/groups/group.h"

namespace tenon::compiler::codegen {

/// Product of the sizes where all are known.
std::optional<int64_t> knownProduct(llvm::ArrayRef<Extent> extents);

// Of attention: queries of a large tile.
inline constexpr int64_t kQueryTile = 128;
// Heads that have no more queries each stay together: those of several are one tile.
inline constexpr int64_t kFewQueries = 64;

struct SpaceAxis {
  llvm::SmallVector<unsigned> axes;  // of the group, outermost first
  llvm::SmallVector<Extent> extents; // of each
  bool isReduced = false;
  std::optional<int64_t> size; // where it is known
  /// How many of them some tensor has that has not all: a weight for each channel, of rows that are channels and
  /// places.
  llvm::SmallVector<unsigned> prefixes = {};
  /// Of what is behind so many.
  llvm::ArrayRef<Extent> behind(unsigned prefix) const { return llvm::ArrayRef(extents).drop_front(prefix); }
};

/// The axes of a kernel, outermost first: parallel ones, then reduced ones.
struct GroupShape {
  dispatch::Group group;
  llvm::SmallVector<SpaceAxis> axes;
  unsigned parallel = 0; // how many of them
  /// The axis of gates that the group reads by their numbers (dispatch/analysis/groups/gates.h), the last parallel one,
  /// as long as the next power of two, so that a fragment of a tile has all gates of its units; and how many there are.
  std::optional<unsigned> gatesAxis;
  int64_t gates = 0;

  static GroupShape of(const KernelFunction &kernel);
  llvm::ArrayRef<SpaceAxis> parallelAxes() const { return llvm::ArrayRef(axes).take_front(parallel); }
  llvm::ArrayRef<SpaceAxis> reducedAxes() const { return llvm::ArrayRef(axes).drop_front(parallel); }
  /// Product of the sizes, where all are known.
  static std::optional<int64_t> sizeOf(llvm::ArrayRef<SpaceAxis> axes);
  /// The same of axes by their numbers.
  std::optional<int64_t> sizeOf(llvm::ArrayRef<unsigned> numbers) const;

  /// How the elements of a tensor lie along an axis: side by side, each row from its start; side by side, but from
  /// anywhere in a row (a slice: [i, j + 3]); the same for all; or apart.
  enum class Along { Adjacent, Shifted, Same, Apart };
  Along along(const KernelTensor &tensor, mlir::linalg::GenericOp op, unsigned axis) const;
  /// How many neighbours on the axis share an element of the tensor, which lies side by side with the next one's:
  /// packed integers, a scale for each few of them. Nothing where it lies in another way.
  std::optional<int64_t> sharedBy(const KernelTensor &tensor, mlir::linalg::GenericOp op, unsigned axis) const;
  /// How many of the axis's axes of the group a tensor has, if it has some and not all.
  std::optional<unsigned> prefixOf(const KernelTensor &tensor, mlir::linalg::GenericOp op, unsigned axis) const;
  /// The axis of the kernel that neighbouring loops of the operation are the last axes of, and all of, if there is one.
  std::optional<unsigned> axisOf(mlir::linalg::GenericOp op, llvm::ArrayRef<unsigned> loops) const;
  /// Whether the dimensions of a tensor from one on are as long as the axes of the group behind the first that the axis
  /// is made of: a place on the axis is one along the last of these dimensions.
  bool hasWhole(const KernelTensor &tensor, unsigned axis, unsigned dimension) const;
  /// How the axes of the group index the tensor: operations for which it is the same read the same elements.
  mlir::AffineMap mapOf(const KernelTensor &tensor, mlir::linalg::GenericOp op) const;
};

/// Lanes of 16 bytes of the widest tensor that lies along the axis: 1, 2, 4 or 8.
uint32_t vectorWidth(const KernelFunction &kernel, const GroupShape &shape, unsigned axis);

} // namespace tenon::compiler::codegen
