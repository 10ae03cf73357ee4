// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels hold i1, i8 to i64, f16, bf16, f32 and f64. Elements of other types lie in memory as one of those, bit by
// bit:
//
//   f8E4M3FN, f8E5M2 and others of 8 bits   i8       computed as f32, rounded behind each operation
//   f4E2M1FN                                i8       the same, in the low half
//   f8E8M0FNU                               i8       scales: converted to and from f32, no more
//   i2, i4, i24, ..                         i8, ..   the next width that there is, sign-extended
//   ui8, ui16, ..                           i8, ..   without arithmetic: MLIR has none on them
//   index                                   i64
//   complex<f32>                            i64      the real part below; f16 and bf16 as i32
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tenon::compiler::input {

/// Floats of 8 or 4 bits with sign, exponent and mantissa.
bool isSmallFloat(mlir::Type type);
/// f8E4M3FN and f8E5M2, which tensor cores multiply: bodies of linalg.generic widen them by arith.extf until code is
/// made for a target (widenSmallFloat); in tensors they are i8 like all others.
bool isWidenedInKernels(mlir::Type type);
/// f8E8M0FNU, the powers of two.
bool isScale(mlir::Type type);
/// Integers without a declared sign of no width that kernels have, of at most 64 bits.
bool isNarrowInteger(mlir::Type type);

/// What elements of a type lie in memory as; null for types that need nothing else, and for those that nothing holds.
mlir::Type storageOf(mlir::Type element);
/// The same of a tensor; null where its elements lie as they are.
mlir::RankedTensorType storageOfTensor(mlir::Type type);

/// Whether tensors of that type are held as tensors of another.
bool isHeldAsOther(mlir::Type type);
/// A type that no kernel computes on, of a scalar or of a tensor's elements. Of index they do.
bool isForeign(mlir::Type type);

/// A value of the type that `stored` holds, and back.
mlir::Value fromStorage(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value stored, mlir::Type type);
mlir::Value toStorage(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);

/// A float of 8 or 4 bits of `type`, given as an integer of its width, as f32: by arithmetic on its bits, exact.
mlir::Value widenSmallFloat(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value bits, mlir::Type type);

/// The constant as it lies in memory; null where its bytes are not known here.
mlir::TypedAttr storedConstant(mlir::TypedAttr constant);

} // namespace tenon::compiler::input
