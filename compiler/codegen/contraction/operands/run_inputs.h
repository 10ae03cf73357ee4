// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run of an operand's elements is computed from, as values that a loop carries from round to round: packed
// integers as words, and what all of the run have in common, once. Who loads it does so some rounds ahead, so that
// nobody waits for memory; who computes the run puts it where the operation's body finds it.
#pragma once

#include "compiler/codegen/contraction/tile_space.h"

namespace tenon::compiler::codegen {

class RunInputs {
public:
  /// @param width elements of a run
  RunInputs(const ProductKernel &kernel, const Operand &operand, uint32_t width)
      : kernel_(kernel), operand_(operand), width_(width) {}

  /// Whether each input has the elements of a run side by side, or one for all of them.
  static bool fit(const GroupShape &shape, const Operand &operand, uint32_t width);
  /// Bytes of a run that lie in an input.
  static uint32_t bytesOf(const OperandInput &input, const GroupShape &shape, unsigned axis, uint32_t width);
  /// Values of a run.
  size_t count() const { return operand_.inputs.size(); }
  llvm::SmallVector<mlir::Value> load(const TileSpace::Begun &run);
  /// The same one by one: where a value of the run lies, and of how many bytes and which type it is.
  mlir::Value address(size_t input, const TileSpace::Begun &run) const;
  uint32_t bytes(size_t input) const;
  mlir::Type type(size_t input) const;
  /// From here on, until Bodies::unstage(), the body reads these.
  void stage(mlir::ValueRange loaded);

private:
  const ProductKernel &kernel_;
  const Operand &operand_;
  const uint32_t width_;
};

} // namespace tenon::compiler::codegen
