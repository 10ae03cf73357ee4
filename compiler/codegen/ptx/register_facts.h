// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ptxas remembers of the registers of one function, as far as it makes a difference (ptxas_errors.h says to what).
// A register may be written more than once, on several branches: a fact holds if one of its writers says so.
#pragma once

#include "ptx/def_use.h"

#include <optional>
#include <vector>

namespace tenon::compiler::codegen {

/// Bits of a type; 0: of a predicate, or none.
unsigned bitsOfType(ptx::ScalarType type);
/// The first modifier that is a type, which is the result's; None: there is none.
ptx::ScalarType typeOfResult(const ptx::Instruction &instruction);
/// The last modifier as a type: that of the operands, or of what lies in memory.
ptx::ScalarType lastType(const ptx::Instruction &instruction);

class RegisterFacts {
public:
  /// Follows every instruction. `function` and `uses`, its registers, stay as they are while this is used.
  RegisterFacts(const ptx::Function &function, const ptx::DefUse &uses);

  static constexpr uint32_t kNone = UINT32_MAX;

  /// The register that is operand `k`; kNone: it is something else, or there is no such operand.
  uint32_t registerOf(uint32_t instruction, size_t k) const;
  /// The register that an element of a vector is.
  uint32_t registerOf(uint32_t instruction, size_t k, size_t element) const;

  unsigned bitsOfRegister(uint32_t number) const { return number == kNone ? 0 : bitsOfType(uses_->types[number]); }
  /// A number in floating point, of 16, 32 or 64 bits.
  bool isFloating(uint32_t number) const { return number != kNone && facts_[number].isFloating; }
  /// 32 bits, made of fewer.
  bool isExtended(uint32_t number) const { return number != kNone && facts_[number].isExtended; }
  /// Of min(x, what is 1 or more), of which max(.., 0) is taken: which operand is the bound.
  std::optional<size_t> clampOf(uint32_t instruction) const;
  /// Whether the larger or the smaller of two signed integers of 32 bits is taken anywhere.
  bool takesSignedExtremes() const { return takesSignedExtremes_; }
  /// Whether the larger or the smaller of two integers of 16 bits is taken anywhere, alone or in pairs.
  bool takesNarrowExtremes() const { return takesNarrowExtremes_; }

private:
  struct Facts {
    bool isFloating = false, isExtended = false;
    bool isBounded = false, isPositive = false; // min(x, 1 or more) was written to it; max(it, 0) is taken
    std::optional<uint64_t> constant;           // of 16 bits: other constants stand in the instructions
  };

  void follow(uint32_t instruction);
  uint32_t nameOf(uint32_t instruction, size_t k, std::optional<size_t> element) const;
  std::optional<double> constantOf(uint32_t instruction, size_t k) const;
  std::optional<size_t> boundOf(uint32_t instruction) const;

  const ptx::Function *function_;
  const ptx::DefUse *uses_;
  std::vector<Facts> facts_; // [registers]
  bool takesSignedExtremes_ = false, takesNarrowExtremes_ = false;
};

} // namespace tenon::compiler::codegen
