// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Division by a size that is not known: the position of an element on two axes is a quotient and a remainder. GPUs have
// no instruction for it; by a number that only the kernel sees it is a function of some forty instructions, most of 64
// bits and a branch. So the program divides once for each launch, and passes the kernel
//
//   m = floor((2^63 - 1) / size)
//
// Then q = floor(x * m / 2^63), the upper half of one product, is x / size or one less: x * m / 2^63 is below x / size
// by x * (2^63 - size * m) / (size * 2^63), and 2^63 - size * m is at most `size`. A comparison sets that right. This
// holds for every x below 2^63. Where both x and the size are below 2^32, as they mostly are, the same is done with
// 2^32 and floor(m / 2^31), in a third of the instructions.
//
// Such an argument of a kernel function has `tenon.reciprocal`: a constant, and the arguments that the size is the
// product of.
#pragma once

#include "compiler/codegen/kernel/kernel_builder.h"
#include "compiler/codegen/kernel/kernel_function.h"

namespace tenon::compiler::codegen {

constexpr llvm::StringLiteral kReciprocalAttr = "tenon.reciprocal";

/// The argument of the kernel function that an integer is; nothing where it was computed from some.
std::optional<unsigned> argumentOf(mlir::Value size);

/// `tenon.reciprocal` of a size that is a product; null where it is known, or is made of other values than arguments.
mlir::DenseI64ArrayAttr reciprocalKey(mlir::Builder &b, llvm::ArrayRef<Extent> extents);

struct Quotient {
  mlir::Value quotient, remainder;
};
/// x / size and what is left. @param reciprocal null: there is none, and it is divided
Quotient divide(KernelBuilder &k, mlir::Value x, mlir::Value size, mlir::Value reciprocal);

/// Whether all of the numbers are below 2^32 (i1).
mlir::Value areWords(KernelBuilder &k, llvm::ArrayRef<mlir::Value> numbers);
/// The same of x and a size that are.
Quotient divideWords(KernelBuilder &k, mlir::Value x, mlir::Value size, mlir::Value reciprocal);

/// What the program passes for a size (index), as i64: also for 0, by which nobody divides.
mlir::Value reciprocalOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value size);

} // namespace tenon::compiler::codegen
