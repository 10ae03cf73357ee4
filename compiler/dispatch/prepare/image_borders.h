// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Borders around images: whether an operation makes one, and whether the convolution that reads it makes it itself.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tenon::compiler::dispatch {

/// One element of another tensor, or a number where there is none: the border around an image.
bool isBorder(mlir::linalg::GenericOp producer);

/// The border around the image of a convolution that tensor cores compute, of one in groups, or of one of f32: they
/// copy the image as it lies, and zeros for what is outside. Elements one by one would each ask whether they are
/// inside.
/// @param operand of the convolution, which reads the producer
bool isBorderOfProduct(mlir::linalg::GenericOp producer, mlir::OpOperand *operand);

} // namespace tenon::compiler::dispatch
