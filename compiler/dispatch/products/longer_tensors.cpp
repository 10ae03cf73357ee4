// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/longer_tensors.h"

#include "compiler/dispatch/products/orders/turned_result.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

Value lengthenedCopy(OpBuilder &b, Location loc, Value source, ArrayRef<int64_t> shape) {
  const auto given = cast<RankedTensorType>(source.getType()), type = given.clone(shape);
  const auto rank = unsigned(given.getRank());
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType()));
  SmallVector<Value> ends(rank), lasts(rank); // where it is longer
  for (unsigned dimension = 0; dimension < rank; ++dimension)
    if (const int64_t size = given.getDimSize(dimension); size != shape[dimension]) {
      ends[dimension] = arith::ConstantIndexOp::create(b, loc, size);
      lasts[dimension] = arith::ConstantIndexOp::create(b, loc, size - 1);
    }
  Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  auto copy = linalg::GenericOp::create(
      b, loc, type, ValueRange(), empty, b.getMultiDimIdentityMap(rank),
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder &b, Location loc, ValueRange) {
        SmallVector<Value> indices;
        for (unsigned dimension = 0; dimension < rank; ++dimension)
          indices.push_back(linalg::IndexOp::create(b, loc, dimension));
        Value isInside;
        for (unsigned dimension = 0; dimension < rank; ++dimension) {
          if (!ends[dimension])
            continue;
          Value &index = indices[dimension];
          Value isBelow = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, ends[dimension]);
          isInside = isInside ? arith::AndIOp::create(b, loc, isInside, isBelow).getResult() : isBelow;
          index = arith::MinSIOp::create(b, loc, index, lasts[dimension]);
        }
        Value read = tensor::ExtractOp::create(b, loc, source, indices);
        linalg::YieldOp::create(b, loc, arith::SelectOp::create(b, loc, isInside, read, zero).getResult());
      });
  return copy.getResult(0);
}

void widenResult(linalg::GenericOp op, ArrayRef<int64_t> shape) {
  Value result = op.getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  auto widen = [&](linalg::GenericOp writer, Value start) {
    writer.getDpsInitOperand(0)->set(start);
    result = writer.getResult(0);
    type = cast<RankedTensorType>(result.getType());
    result.setType(start.getType());
  };
  OpBuilder b(op);
  auto emptyOf = [&](Location loc) { return tensor::EmptyOp::create(b, loc, shape, type.getElementType()); };
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  widen(op, linalg::FillOp::create(b, op.getLoc(), fill.getInputs()[0], emptyOf(op.getLoc()).getResult()).getResult(0));
  while (result.hasOneUse()) {
    auto reader = dyn_cast<linalg::GenericOp>(*result.user_begin());
    if (!isSamePlace(reader) || reader.getNumDpsInputs() != 1)
      break;
    b.setInsertionPoint(reader);
    type = cast<RankedTensorType>(reader.getResult(0).getType());
    widen(reader, emptyOf(reader.getLoc()));
  }
  b.setInsertionPointAfterValue(result);
  Value empty = tensor::EmptyOp::create(b, result.getLoc(), type.getShape(), type.getElementType());
  auto first = linalg::GenericOp::create(
      b, result.getLoc(), type, ValueRange(), empty, b.getMultiDimIdentityMap(type.getRank()),
      SmallVector<utils::IteratorType>(type.getRank(), utils::IteratorType::parallel),
      [&](OpBuilder &b, Location loc, ValueRange) {
        SmallVector<Value> indices;
        for (unsigned dimension = 0; dimension < type.getRank(); ++dimension)
          indices.push_back(linalg::IndexOp::create(b, loc, dimension));
        linalg::YieldOp::create(b, loc, tensor::ExtractOp::create(b, loc, result, indices).getResult());
      });
  result.replaceUsesWithIf(first.getResult(0), [&](OpOperand &use) { return !first->isAncestor(use.getOwner()); });
}

} // namespace tenon::compiler::dispatch
