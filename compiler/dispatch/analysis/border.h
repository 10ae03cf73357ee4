// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An image with zeros around it, as a body reads it:
//
//   select(y - 1 < h and x - 1 < w, image[n, clamp(y - 1), clamp(x - 1), c], 0)
//
// Where a convolution reads it so, nobody stores the image a second time with its border.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace tenon::compiler::dispatch {

struct Border {
  mlir::Value image;   // a tensor from outside of the body, of known sizes, perhaps but for how many images it holds
  mlir::AffineMap map; // loops of the operation -> place; it may lie outside of the image, where the value is 0

  /// Whether a dimension has places outside.
  llvm::SmallVector<bool> mayLeave; // [rank]
};

/// How `value`, of the body of `op`, reads an image; nothing where it is anything else.
std::optional<Border> borderOf(mlir::Value value, mlir::linalg::GenericOp op);
/// The same with a number of the image's type around it, such as a zero point.
std::optional<Border> borderOf(mlir::Value value, mlir::linalg::GenericOp op, mlir::Attribute outside);

/// The same of images of which it may be unknown how many there are: places along dimensions of unknown size are
/// parallel loops'.
std::optional<Border> borderOfUnknown(mlir::Value value, mlir::linalg::GenericOp op);
std::optional<Border> borderOfUnknown(mlir::Value value, mlir::linalg::GenericOp op, mlir::Attribute outside);

/// An image with zeros also between its elements:
///
///   select((y - 1) % 2 = 0 and (y - 1) / 2 < h and ..., image[n, clamp((y - 1) / 2), ..., c], 0)
struct DilatedImage {
  mlir::Value image;
  mlir::AffineMap map;              // loops of the operation -> place, times its step
  llvm::SmallVector<int64_t> steps; // [rank] from one element to the next
};

/// The same of such an image, of steps of one as well.
std::optional<DilatedImage> dilatedImageOf(mlir::Value value, mlir::linalg::GenericOp op);

/// What an affine expression without symbols is a sum of: a factor for each dimension, and a number; nothing where it
/// divides.
struct LinearExpr {
  llvm::SmallVector<int64_t> factors; // [dimensions]
  int64_t offset = 0;
  static std::optional<LinearExpr> of(mlir::AffineExpr expr, unsigned dimensions);
};

} // namespace tenon::compiler::dispatch
