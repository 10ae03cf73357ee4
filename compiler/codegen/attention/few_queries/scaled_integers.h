// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that are kept as integers of eight bits, with a scale for each key. Where a weight is multiplied with
// bf16(integer * scale), tensor cores multiply the integer, which a bf16 holds exactly, with bf16(weight * scale): as
// many roundings less as there are values, and one instruction and a quarter for each instead of four.
//
// Of keys this is not done. What they are rounded to is part of the scores, and an exponential makes much of little: of
// scores of some hundreds, those of keys that were not rounded are other weights than the program's.
#pragma once

#include "compiler/codegen/contraction/operands/run_inputs.h"

namespace tenon::compiler::codegen {

struct ScaledIntegers {
  size_t integers, scale; // inputs of the operand

  /// Of the second product. Nothing where values are computed in another way, or are not bf16: a weight times a scale
  /// may leave the range of f16.
  static std::optional<ScaledIntegers> of(const GroupShape &shape, const Product &output);
  /// Words of four integers each, as registers of two bf16: a 64th of each, as kernel/narrow/scaled_numbers.h has them.
  static llvm::SmallVector<mlir::Value> pairs(KernelBuilder &k, mlir::Value words);
  /// A weight that multiplies such.
  static mlir::Value scaled(KernelBuilder &k, mlir::Value weight, mlir::Value scale);
};

} // namespace tenon::compiler::codegen
