// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks that wait for what earlier ones say. Each takes a number, its ticket: who waits for a smaller one knows that a
// block has it already, in whatever order blocks run. What is said is a value in a place of scratch memory; until then
// the place is empty. Value and mark are one word, so that no fence is needed, or two words of half a value each.
#pragma once

#include "compiler/codegen/kernel/kernel_builder.h"

namespace tenon::compiler::codegen {

/// All threads get the number of this block among those that took one of `counter` (an i32 that was 0), i64.
mlir::Value takeTicket(KernelBuilder &k, mlir::Value counter);

class SaidValues {
public:
  /// Words (i64) that a place takes for values of the type, of up to 64 bits.
  static int64_t wordsOf(mlir::Type type);

  /// @param words the first place's
  SaidValues(KernelBuilder &k, mlir::Type type, mlir::Value words) : k_(k), type_(type), words_(words) {}

  void clear(mlir::Value place);
  void say(mlir::Value place, mlir::Value value);
  /// Waits until something is said.
  mlir::Value hear(mlir::Value place);

private:
  mlir::Value at(mlir::Value place, int64_t word);
  mlir::Value integer(int64_t value);

  KernelBuilder &k_;
  mlir::Type type_;
  mlir::Value words_;
};

} // namespace tenon::compiler::codegen
