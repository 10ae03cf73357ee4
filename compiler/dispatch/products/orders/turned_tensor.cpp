// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/orders/turned_tensor.h"

#include "compiler/dispatch/products/orders/computed_constants.h"
#include "compiler/dispatch/products/orders/turned_result.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// Groups of neighbouring dimensions, of which one at most is longer than one; none where all are one.
SmallVector<ReassociationIndices> groupsOfOne(ArrayRef<int64_t> shape) {
  SmallVector<ReassociationIndices> groups;
  bool isLong = false;
  for (auto [dimension, size] : llvm::enumerate(shape)) {
    if (groups.empty() || (size != 1 && isLong)) {
      groups.emplace_back();
      isLong = false;
    }
    groups.back().push_back(int64_t(dimension));
    isLong |= size != 1;
  }
  return isLong ? groups : SmallVector<ReassociationIndices>();
}

/// The tensor in another order of its dimensions where that moves none that is longer than one, as of filters of one
/// place: the same elements in the same order. Null where it does.
Value turnedView(OpBuilder &b, Location loc, Value tensor, ArrayRef<int64_t> order) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> moved;
  llvm::copy_if(order, std::back_inserter(moved), [&](int64_t from) { return type.getDimSize(from) != 1; });
  const SmallVector<int64_t> shape = inOrder(type.getShape(), order);
  const SmallVector<ReassociationIndices> from = groupsOfOne(type.getShape()), to = groupsOfOne(shape);
  if (!type.hasStaticShape() || !llvm::is_sorted(moved) || from.empty() || to.empty())
    return {};
  Value flat = tensor::CollapseShapeOp::create(b, loc, tensor, from);
  return tensor::ExpandShapeOp::create(b, loc, type.clone(shape), flat, to);
}

} // namespace

Value turnedTo(OpBuilder &b, Location loc, Value tensor, ArrayRef<int64_t> order) {
  if (Value view = turnedView(b, loc, tensor, order))
    return view;
  if (Value made = turnedConstant(b, loc, tensor, order))
    return made;
  const SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, tensor);
  Value empty = tensor::EmptyOp::create(b, loc, inOrder(ArrayRef(sizes), order), getElementTypeOrSelf(tensor));
  return linalg::TransposeOp::create(b, loc, tensor, empty, order)->getResult(0);
}

} // namespace tenon::compiler::dispatch
