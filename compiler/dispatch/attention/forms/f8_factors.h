// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of an attention whose factors are f8, as products of f16, which hold every f8: the same sums of the same
// numbers, for kernels that multiply f16. Weights that meet values of f8 are multiplied as f16, too, whether the
// program rounds them to f8, to f16 or not at all: a weight of f16 is nearer to the exact one than those values are to
// what they stand for.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// Of a product of two f8, in f32.
void widenFactors(mlir::linalg::GenericOp product);
/// Of a last product whose values are f8; `weights`: which input of it, of f32.
void widenWeighted(mlir::linalg::GenericOp output, unsigned weights);

/// Factors that were widened are tensors of f16 in front of the product, stored by kernels of their own: many tiles
/// read them then as they are copied, where each would widen them for itself.
void storeWidened(mlir::linalg::GenericOp product);

} // namespace tenon::compiler::dispatch
