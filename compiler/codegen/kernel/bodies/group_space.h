// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the elements of a group lie. The group's axes (dispatch/analysis/group.h) that every tensor has side by side
// are one here: a sum of two [64, 128, 256] tensors runs over one axis of 2097152 positions, and an index costs no
// division.
//
// A point is a position on each of these axes. One axis may be the vector axis: a thread then holds several adjacent
// positions of it at once, its lanes.
#pragma once

#include "compiler/codegen/kernel/kernel_arguments.h"
#include "compiler/codegen/kernel/kernel_builder.h"
#include "compiler/codegen/kernel/lanes.h"
#include "compiler/codegen/kernel/reciprocal.h"
#include "compiler/dispatch/analysis/groups/group.h"

namespace tenon::compiler::codegen {

/// Product of the sizes where all are known.
std::optional<int64_t> knownProduct(llvm::ArrayRef<Extent> extents);

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

/// The axes of a kernel, outermost first: parallel ones, then reduced ones. Known when a strategy is chosen.
struct GroupShape {
  dispatch::Group group;
  llvm::SmallVector<SpaceAxis> axes;
  unsigned parallel = 0; // how many of them

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
  /// How the axes of the group index the tensor: operations for which it is the same read the same elements.
  mlir::AffineMap mapOf(const KernelTensor &tensor, mlir::linalg::GenericOp op) const;
};

/// Lanes of 16 bytes of the widest tensor that lies along the axis: 1, 2, 4 or 8.
uint32_t vectorWidth(const KernelFunction &kernel, const GroupShape &shape, unsigned axis);

struct Point {
  llvm::SmallVector<mlir::Value> index; // [axes]
  unsigned id = 0;                      // of the point: values computed there are remembered by it
  unsigned place = 0;                   // of all points that differ on the unrolled axis alone: what they read
};

class GroupSpace {
public:
  GroupSpace(KernelBuilder &k, const GroupShape &shape, const KernelArguments &arguments);

  const GroupShape &shape() const { return shape_; }
  mlir::Value size(unsigned axis) const { return sizes_[axis]; }
  /// Product of the sizes of axes [first, last).
  mlir::Value size(unsigned first, unsigned last);
  /// Divides a number by the size of axes [first, last).
  Quotient divide(mlir::Value number, unsigned first, unsigned last);
  /// Writes the position `linear` of axes [first, last) into the point.
  void place(Point &point, unsigned first, unsigned last, mlir::Value linear);
  unsigned newId() { return nextId_++; }

  unsigned vectorAxis = 0;
  std::optional<unsigned> unrolledAxis; // that a thread runs through, at each place of the others

  /// Whether the loop's index alone is the position on the vector axis.
  bool isVectorLoop(mlir::linalg::GenericOp op, unsigned loop) const;
  mlir::Value loopIndex(mlir::linalg::GenericOp op, unsigned loop, const Point &point, unsigned lane);
  Lanes loopLanes(mlir::linalg::GenericOp op, unsigned loop, const Point &point, unsigned width);
  /// What an expression of the operation's loops is at the point.
  mlir::Value position(mlir::AffineExpr expr, mlir::linalg::GenericOp op, const Point &point, unsigned lane);
  /// Number of the element of a tensor, row-major.
  /// @param prefix position on the part of the vector axis that the tensor has (prefixOf); null: that of the lane
  mlir::Value element(const KernelTensor &tensor, mlir::linalg::GenericOp op, const Point &point, unsigned lane,
                      mlir::Value prefix = {});
  /// Of a position on an axis, that on its first axes of the group, and on those behind.
  Quotient dividePrefix(unsigned axis, unsigned prefix, mlir::Value position);
  /// Product of the sizes behind a prefix.
  mlir::Value sizeBehind(unsigned axis, unsigned prefix);

private:
  mlir::Value axisIndex(unsigned groupAxis, const Point &point, unsigned lane);
  mlir::Value laneIndex(unsigned axis, const Point &point, unsigned lane);

  KernelBuilder &k_;
  const GroupShape &shape_;
  const KernelArguments &arguments_;
  llvm::SmallVector<mlir::Value> sizes_;       // [axes]
  llvm::SmallVector<mlir::Value> reciprocals_; // [axes] of the sizes; null: there is none
  unsigned nextId_ = 0;
};

} // namespace tenon::compiler::codegen
