// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the elements of a group lie. A point is a position on each of the kernel's axes (group_shape.h). One axis may
// be the vector axis: a thread then holds several adjacent positions of it at once, its lanes.
#pragma once

#include "compiler/codegen/kernel/bodies/group_shape.h"
#include "compiler/codegen/kernel/kernel_builder.h"
#include "compiler/codegen/kernel/lanes.h"
#include "compiler/codegen/kernel/reciprocal.h"

namespace tenon::compiler::codegen {

struct Point {
  llvm::SmallVector<mlir::Value> index; // [axes]
  unsigned id = 0;                      // of the point: values computed there are remembered by it
  unsigned place = 0;                   // of all points that differ on the unrolled axis alone: what they read
  mlir::Value linear;                   // number of the element on all axes; null: only the positions are known
  // Of the element in tensors that a map of the group's axes indexes (GroupShape::mapOf).
  llvm::SmallVector<std::pair<mlir::AffineMap, mlir::Value>, 2> offsets;
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
  /// The same of all axes, where not all sizes are known; and where the element lies in tensors that `orders` index,
  /// which are permutations: of numbers of 32 bits, in numbers of 32 bits. `linear` is less than 2^16 behind the last
  /// element.
  void placeAll(Point &point, mlir::Value linear, llvm::ArrayRef<mlir::AffineMap> orders);
  /// Whether a tensor has its elements in the order of the axes.
  bool isInOrder(mlir::AffineMap map) const;
  unsigned newId() { return nextId_++; }
  /// In `body` all positions are words (KernelBuilder::inWords): those of small tensors (small_tensors.h).
  void inWords(llvm::function_ref<void()> body);

  unsigned vectorAxis = 0;
  std::optional<unsigned> unrolledAxis; // that a thread runs through, at each place of the others

  /// Whether the loop's index alone is the position on the vector axis.
  bool isVectorLoop(mlir::linalg::GenericOp op, unsigned loop) const;
  mlir::Value loopIndex(mlir::linalg::GenericOp op, unsigned loop, const Point &point, unsigned lane);
  Lanes loopLanes(mlir::linalg::GenericOp op, unsigned loop, const Point &point, unsigned width);
  /// Positions on an axis of the kernel.
  Lanes axisLanes(unsigned axis, const Point &point, unsigned width);
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
  void findSizes();
  mlir::Value offsetIn(mlir::AffineMap order, llvm::ArrayRef<mlir::Value> indices, mlir::Type type);
  std::optional<mlir::Value> knownElement(const KernelTensor &tensor, mlir::linalg::GenericOp op, const Point &point,
                                          unsigned lane);
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
