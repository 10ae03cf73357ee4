// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A patch of the image and filters of some groups, from memory to shared memory (windows.h).
#pragma once

#include "compiler/codegen/grouped/form.h"
#include "compiler/codegen/kernel/tensor_core.h"

namespace tenon::compiler::codegen {

class GroupedPatch {
public:
  /// @param block which tile
  GroupedPatch(const GroupedForm &form, const GroupedGeometry &geometry, const GroupShape &shape, KernelBuilder &k,
               GroupSpace &space, Bodies &bodies, TensorCore &core, mlir::Value block);

  /// Fills both, beside the threads where that is possible: behind it the block waits and meets.
  void bring(mlir::Value patch, mlir::Value filters);
  /// A result: `place` of those of the tile, `group` of its groups, `column` of the group's filters.
  Point resultAt(mlir::Value place, mlir::Value group, mlir::Value column);
  /// Whether the tile has it; null: it has.
  mlir::Value isResult(const Point &point);
  /// Where a place of results, or of a window, begins among the patch's positions.
  mlir::Value positionOf(mlir::Value place);
  mlir::Value positionOfWindow(mlir::Value place);

private:
  struct Where {
    mlir::Value number, isInside; // of an element of the image; null: it is
  };
  Where positionAt(mlir::Value position);
  void bringLines(mlir::Value patch);
  void bringQuads(mlir::Value patch);
  /// Whether what a filter multiplies is one run of memory, as the kernel has it.
  bool filtersAreRuns() const;
  void bringRuns(mlir::Value filters);
  void bringFilters(mlir::Value filters, bool isVector);
  Point filterAt(mlir::Value row, mlir::Value quad, int64_t inQuad);
  mlir::Value quadOf(llvm::ArrayRef<mlir::Value> values);
  void place(Point &point, llvm::ArrayRef<unsigned> axes, mlir::Value number);
  /// Calls body for groups of numbers below `count` that this thread has; the last of them may be `count` or above.
  void forEach(int64_t count, llvm::function_ref<void(llvm::ArrayRef<mlir::Value>)> body);

  const GroupedForm &form_;
  const GroupedGeometry &geometry_;
  const GroupShape &shape_;
  KernelBuilder &k_;
  GroupSpace &space_;
  Bodies &bodies_;
  TensorCore &core_;
  mlir::Type word_; // an element's bits
  Point origin_;    // the first result
  mlir::Value firstGroup_;
  llvm::SmallVector<mlir::Value> firstPlace_; // of the results, along each place
  llvm::SmallVector<int64_t> strides_;        // [dimensions of the image]
  mlir::Value base_;                          // number of the image's element of no group, channel or place
  mlir::Value image_;
};

} // namespace tenon::compiler::codegen
