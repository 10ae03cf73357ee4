// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar operations of MLIR to registers.
//
// A register is int64. An MLIR integer of fewer bits is held sign-extended, and its arithmetic wraps at its own width;
// i1 is held as 0 or 1; a float scalar is its bits, zero-extended, and computes as IEEE 754 says (f16 and bf16 in f32,
// rounded after each operation). Index arithmetic does not wrap: a size
// that does not fit fails the call, as does a division by zero. A size that an unsigned operation reads must not be
// negative; where that is not known it is checked when the program is called. Integers wrap at their width;
// unsigned operations on those of 64 bits are exact.
#pragma once

#include "compiler/host/program/program.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace tenon::compiler::host {

/// "example.mlir:31:5": the file's name without its folders, so that output does not depend on where it was compiled.
std::string locationText(mlir::Location location);

/// Bits of an integer or index type that a register can hold; 0 for any other type.
uint32_t integerBits(mlir::Type type);
bool isFloatScalar(mlir::Type type);
/// The error that an operation is not supported outside a kernel, and why.
mlir::LogicalResult unsupported(mlir::Operation *op, const llvm::Twine &why);

class ScalarLowering {
public:
  /// Operations go to `function.registers`, conditions that they need to `function.checks`.
  explicit ScalarLowering(Function &function) : function_(function), registers_(function.registers) {}

  /// Gives a value its register: a function argument, a dimension, a block argument.
  void define(mlir::Value value, Register reg) { values_[value] = reg; }
  /// Scalar argument `input` of the function, in the canonical form of its type.
  void defineArgument(mlir::Value value, uint32_t input);
  /// Lowers one operation whose operands are defined. An operation that is not in the set is an error at its place.
  mlir::LogicalResult lower(mlir::Operation *op);
  /// Lowers an operation whose result is the constant `value`.
  mlir::LogicalResult lowerConstant(mlir::Operation *op, mlir::Attribute value);
  /// The register of a defined scalar.
  Register lookup(mlir::Value value) const { return values_.lookup(value); }
  bool isDefined(mlir::Value value) const { return values_.contains(value); }
  /// Adds a check unless it is known to hold. The first message for a condition stays.
  void require(Register condition, const std::string &message, mlir::Location location);

private:
  mlir::LogicalResult checkTypes(mlir::Operation *op);
  mlir::LogicalResult lowerArith(mlir::Operation *op);
  // Of integers of `width` bits (scalar_bits.cpp).
  mlir::LogicalResult lowerShift(mlir::Operation *op, uint32_t width);
  mlir::LogicalResult lowerBitCount(mlir::Operation *op, uint32_t width);
  // Of unsigned numbers (scalar_unsigned.cpp).
  mlir::LogicalResult lowerUnsignedDivision(mlir::Operation *op);
  Register asUnsigned(mlir::Value value, mlir::Operation *user);
  Register unsignedLess(Register a, Register b, uint32_t bits);
  Register unsignedQuotient(Register dividend, Register divisor);
  Register unsignedToReal(Register value, uint32_t bits);
  Register realToUnsigned(Register value, uint32_t bits);
  // Of floats (scalar_reals.cpp).
  mlir::LogicalResult lowerReal(mlir::Operation *op);
  Register compareReals(mlir::Operation *op);
  Register asReal(mlir::Value value);
  Register integerToReal(Register value, uint32_t bits);
  Register exactInDouble(Register value);
  mlir::LogicalResult finishReal(mlir::Operation *op, Register value);

  mlir::LogicalResult lowerAffine(mlir::Operation *op);
  Register affineExpression(mlir::AffineExpr expression, mlir::AffineMap map, mlir::ValueRange operands);
  Register wrap(Register value, uint32_t bits);
  Register asSigned(mlir::Value value);
  Register compare(mlir::Operation *op);
  mlir::LogicalResult finish(mlir::Operation *op, Register value);

  Function &function_;
  RegisterProgram &registers_;
  llvm::DenseMap<mlir::Value, Register> values_;
};

} // namespace tenon::compiler::host
