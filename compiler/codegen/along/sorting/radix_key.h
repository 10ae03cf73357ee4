// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys of a sort as unsigned integers of the same order, eight bits of them at a time. -0 and 0 are one key, and so are
// all NaNs, which come last.
#pragma once

#include "compiler/codegen/along/sorting/comparison.h"
#include "compiler/codegen/kernel/kernel_builder.h"

namespace tenon::compiler::codegen {

class RadixKey {
public:
  static constexpr unsigned kDigits = 256; // values of a digit

  explicit RadixKey(const Comparison &comparison) : comparison_(comparison) {}

  unsigned operand() const { return comparison_.operand; }
  mlir::Type type() const { return comparison_.type; }
  /// All of a key: i32, or i64 where it has more bits. Bits that a narrower one has not are 0.
  mlir::Value code(KernelBuilder &k, mlir::Value key) const;
  /// How many digits a key has.
  unsigned digits() const;
  /// One of them, i32. Of its number (i64) 0 counts least.
  mlir::Value digit(KernelBuilder &k, mlir::Value key, mlir::Value number) const;
  /// A key that comes behind no other.
  mlir::Value last(KernelBuilder &k) const;

private:
  Comparison comparison_;
};

} // namespace tenon::compiler::codegen
