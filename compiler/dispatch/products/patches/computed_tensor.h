// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies whose elements are computed from their places: which element of the original stands there, or zero.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {

/// Numbers and conditions about places in a body.
class PlaceMath {
public:
  PlaceMath(mlir::OpBuilder &b, mlir::Location loc) : b_(b), loc_(loc) {}
  mlir::Value number(int64_t value) { return mlir::arith::ConstantIndexOp::create(b_, loc_, value); }
  /// Neither negative nor `limit` or more.
  mlir::Value isBelow(mlir::Value value, int64_t limit) {
    return mlir::arith::CmpIOp::create(b_, loc_, mlir::arith::CmpIPredicate::ult, value, number(limit));
  }
  mlir::Value times(mlir::Value value, int64_t factor) {
    return factor == 1 ? value : mlir::arith::MulIOp::create(b_, loc_, value, number(factor)).getResult();
  }
  /// `x` may be null: there is nothing yet.
  mlir::Value sum(mlir::Value x, mlir::Value y) {
    return x ? mlir::arith::AddIOp::create(b_, loc_, x, y).getResult() : y;
  }
  /// `x` may be null: nothing is asked yet.
  mlir::Value both(mlir::Value x, mlir::Value y) {
    return x ? mlir::arith::AndIOp::create(b_, loc_, x, y).getResult() : y;
  }

private:
  mlir::OpBuilder &b_;
  mlir::Location loc_;
};

/// An element of a tensor at a place of it.
using ReadElement = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)>;

/// An element of an image: where it has a border (convolution.h), what that is there. `read` reads what is inside of
/// the border, or the image where it has none.
mlir::Value readImage(mlir::OpBuilder &b, mlir::Value image, llvm::ArrayRef<mlir::Value> place, ReadElement read);
/// The same image without its border; itself, where it has none.
mlir::Value insideOfBorder(mlir::Value image);

/// A tensor of `shape`; `element` computes what stands at a place.
inline mlir::Value
buildTensor(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::OpFoldResult> shape, mlir::Type type,
            llvm::function_ref<mlir::Value(mlir::OpBuilder &, llvm::ArrayRef<mlir::Value>)> element) {
  mlir::Value empty = mlir::tensor::EmptyOp::create(b, loc, shape, type);
  const auto rank = unsigned(shape.size());
  return mlir::linalg::GenericOp::create(
             b, loc, empty.getType(), mlir::ValueRange(), empty, b.getMultiDimIdentityMap(rank),
             llvm::SmallVector<mlir::utils::IteratorType>(rank, mlir::utils::IteratorType::parallel),
             [&](mlir::OpBuilder &inside, mlir::Location, mlir::ValueRange) {
               llvm::SmallVector<mlir::Value> place;
               for (unsigned dimension = 0; dimension < rank; ++dimension)
                 place.push_back(mlir::linalg::IndexOp::create(inside, loc, dimension));
               mlir::linalg::YieldOp::create(inside, loc, element(inside, place));
             })
      .getResult(0);
}
/// The same where the shape is known.
inline mlir::Value
buildTensor(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<int64_t> shape, mlir::Type type,
            llvm::function_ref<mlir::Value(mlir::OpBuilder &, llvm::ArrayRef<mlir::Value>)> element) {
  return buildTensor(b, loc, mlir::getAsIndexOpFoldResult(b.getContext(), shape), type, element);
}

} // namespace tenon::compiler::dispatch
