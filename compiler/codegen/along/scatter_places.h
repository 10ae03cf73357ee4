// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a scatter's updates go. Updates are numbered, and so are the elements of a slice. Dimensions of the tensor that
// the indices name and that a slice does not run along make the key of an update: the slice that it replaces.
#pragma once

#include "compiler/codegen/along/lines/along.h"
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"

namespace tenon::compiler::codegen {

/// Known when kernels are planned.
struct ScatterShape {
  llvm::SmallVector<Extent> batch, slice, keys; // updates, elements of one, slices of the tensor
  bool overlaps;                                // slices may begin anywhere along a dimension that they run along
  unsigned depth, sliceRank;
  bool hasDepth; // the indices have a dimension for it

  explicit ScatterShape(const KernelFunction &kernel);
};

class ScatterPlaces {
public:
  ScatterPlaces(AlongWriter &w, const ScatterShape &shape);

  mlir::Value updates, elements, keys; // how many

  /// What an update's indices say, as i64: [depth].
  llvm::SmallVector<mlir::Value> indicesOf(mlir::Value update);
  struct Place {
    mlir::Value element; // of the tensor
    mlir::Value isInside;
  };
  Place placeOf(llvm::ArrayRef<mlir::Value> indices, mlir::Value sliceElement);
  /// The slice that is named, where slices do not overlap.
  Place keyOf(llvm::ArrayRef<mlir::Value> indices);
  /// An element of a slice that is named by its key, and fits().
  mlir::Value elementOf(mlir::Value key, mlir::Value sliceElement);
  /// Whether an element of a slice has a place in the tensor at all: slices may be longer than it, where no index names
  /// a dimension.
  mlir::Value fits(mlir::Value sliceElement);

private:
  Place within(llvm::ArrayRef<mlir::Value> position, llvm::ArrayRef<unsigned> dimensions);
  llvm::SmallVector<mlir::Value> slicePosition(mlir::Value sliceElement);

  AlongWriter &w_;
  KernelBuilder &k_;
  const ScatterShape &shape_;
  llvm::ArrayRef<int64_t> map_;
  llvm::SmallVector<mlir::Value> sizes_, sliceSizes_; // of the tensor, of a slice
};

} // namespace tenon::compiler::codegen
