// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions of small integers to bf16 in one instruction, together with what is subtracted from them.
//
// Bits 0 to 7 of a bf16 are the last bit of its exponent and its fraction. As a number, they are linear: those of n, an
// integer below 256, are n * 2^-133, since numbers below 2^-126 have the same last bit as those from there on. So an
// integer that lies in the low byte of each half of a register is a number already, times a power of two. No bf16 is
// 2^133, but 2^127 is, and there is a factor left that is common to all:
//
//   fma(n * 2^-133, 2^127, -z / 64)  =  round(n - z) / 64         one rounding, of the same bits as those of n - z
//   that * (64 * s)                  =  round(round(n - z) * s)   the same again
//
// An integer of four bits in the high half of a byte is 16 times as large, so the factor is 2^123, and nothing is
// shifted. All of this is exact where z / 64 and 64 * s are. Of s from 2^122 on and of most z below 2^-120 they are
// not; that is noticed (unlike()), and who computes so has to compute it again as others do.
#pragma once

#include "compiler/codegen/kernel/kernel_builder.h"

#include "llvm/ADT/DenseMap.h"

namespace tenon::compiler::codegen {

/// While it lives, bodies that are computed by pairs (narrow_pairs.h) convert integers to bf16 so.
class ScaledNumbers {
public:
  /// @param areApart pairs are a lane and the fourth behind it, not the next one: of integers of four bits those are
  /// apart by a half of a word, where a mask is all that takes them out of it
  ScaledNumbers(KernelBuilder &k, bool areApart) : k_(k), areApart_(areApart) { k_.scaledNumbers = this; }
  ~ScaledNumbers() { k_.scaledNumbers = nullptr; }
  ScaledNumbers(const ScaledNumbers &) = delete;
  ScaledNumbers &operator=(const ScaledNumbers &) = delete;

  /// i32, not 0 where something that was scaled is not exact, so far; null: nothing was scaled.
  mlir::Value unlike() const { return unlike_; }

  /// Two equal factors times 64, or by 64; null: it is no bf16.
  mlir::Value multiplied(mlir::Value factor) { return scaled(factor, kScale); }
  mlir::Value divided(mlir::Value factor) { return scaled(factor, 1 / kScale); }

  /// Two bf16.
  mlir::VectorType pairType();
  mlir::Value pairOf(double low, double high);
  /// Two bytes' fields, as bits of two halves, as numbers by 64. `low` and `high`: bits below each.
  mlir::Value numbers(mlir::Value bits, uint32_t low, uint32_t high, uint32_t sign);
  /// What was divided by 64, times it, as others are to read it; and back: null where it is none.
  mlir::Value unscaled(mlir::Value pair);
  static mlir::Value scaledOf(mlir::Value pair);
  /// scaled pair - subtracted, divided by 64, too.
  mlir::Value difference(mlir::Value scaled, mlir::Value subtracted);

  /// The lanes of pair `number`.
  std::pair<unsigned, unsigned> lanesOf(unsigned number) const {
    const unsigned first = number / 4 * 8 + number % 4;
    return areApart_ ? std::pair(first, first + 4) : std::pair(2 * number, 2 * number + 1);
  }

  static constexpr double kScale = 64;

private:
  mlir::Value scaled(mlir::Value factor, double by);

  KernelBuilder &k_;
  const bool areApart_;
  mlir::Value unlike_;
  llvm::DenseMap<mlir::Value, mlir::Value> multiplied_, divided_; // by what they were made of
};

} // namespace tenon::compiler::codegen
