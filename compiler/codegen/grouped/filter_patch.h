// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tile of the gradient, and the patch of the image that its windows meet, from memory to shared memory
// (filter_sums.h).
#pragma once

#include "compiler/codegen/grouped/filter_form.h"
#include "compiler/codegen/kernel/tensor_core.h"

namespace tenon::compiler::codegen {

class FilterPatch {
public:
  /// @param line which of the form's lines of groups
  /// @param parts positions of form.loops.parts
  FilterPatch(const GroupedFilterForm &form, const FilterTile &tile, KernelBuilder &k, Bodies &bodies, TensorCore &core,
              mlir::Value line, llvm::ArrayRef<mlir::Value> parts);

  /// From here on it is about this tile of the block's.
  void setTile(mlir::Value number);
  /// Fills the patch and, behind it, the lines of the gradient; zeros where there is nothing. Beside the threads where
  /// that is possible: behind wait() they are there, and the block is to meet.
  void bring(mlir::Value stage);
  void wait() { core_.waitForGroups(0); }
  /// Whether the gradient has a place of the tile; null: it has.
  mlir::Value exists(mlir::Value place, bool isOfTile);
  /// Where a place of the tile, or of the window, begins among the patch's positions.
  mlir::Value positionOf(mlir::Value place);
  mlir::Value positionOfWindow(mlir::Value window);
  /// Positions of form.loops.windows.
  llvm::SmallVector<mlir::Value> windowsAt(mlir::Value window);

private:
  struct Where {
    mlir::Value number, isInside; // of an element of no channel; null: it is
  };
  Where imageAt(mlir::Value position);
  Where gradientAt(mlir::Value place);
  void bringLines(mlir::Value to, const KernelTensor &tensor, unsigned channelAt, int64_t ofGroup, int64_t lines,
                  int64_t lineBytes, bool isImage, bool isVector);
  void bring(mlir::Value to, const KernelTensor &tensor, unsigned channelAt, int64_t ofGroup, int64_t lines,
             int64_t lineBytes, bool isImage);
  void both(mlir::Value &is, mlir::Value more) const { is = is ? k_.both(is, more) : more; }

  const GroupedFilterForm &form_;
  const FilterTile &tile_;
  KernelBuilder &k_;
  Bodies &bodies_;
  TensorCore &core_;
  mlir::Value line_;
  llvm::SmallVector<mlir::Value> parts_;
  llvm::SmallVector<mlir::Value> first_; // [summed] of the tile
};

} // namespace tenon::compiler::codegen
