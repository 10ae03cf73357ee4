// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations whose text was another in other years (dialect/OtherYears.h), as what they are today.
#include "compiler/input/steps/steps.h"
#include "compiler/input/steps/tosa_of_other_years.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

/// Of what is dynamic in a group there is one dimension, and it is what the others leave.
LogicalResult readExpandShape(Operation *op) {
  OpBuilder builder(op);
  auto from = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  auto groups = op->getAttrOfType<ArrayAttr>("reassociation");
  SmallVector<ReassociationIndices> indices;
  if (!from || !to || !groups)
    return op->emitError() << "'tensor.expand_shape' wants tensors that have a rank";
  int64_t next = 0;
  for (Attribute group : groups) {
    auto list = dyn_cast<ArrayAttr>(group);
    ReassociationIndices &found = indices.emplace_back();
    for (Attribute index : list ? list.getValue() : ArrayRef<Attribute>()) {
      auto integer = dyn_cast<IntegerAttr>(index);
      if (!integer || integer.getInt() != next++)
        return op->emitError() << "'tensor.expand_shape' wants the dimensions of its result in their order";
      found.push_back(integer.getInt());
    }
  }
  if (next != (groups.empty() ? 0 : to.getRank()) || static_cast<int64_t>(groups.size()) != from.getRank())
    return op->emitError() << "'tensor.expand_shape' has " << groups.size() << " groups of " << next
                           << " dimensions for " << from << " and " << to;
  SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(builder.getContext(), to.getShape());
  for (auto [dimension, group] : llvm::enumerate(indices)) {
    int64_t rest = 1, dynamic = -1;
    for (int64_t index : group) {
      if (!to.isDynamicDim(static_cast<unsigned>(index)))
        rest *= to.getDimSize(static_cast<unsigned>(index));
      else if (dynamic < 0)
        dynamic = index;
      else
        return op->emitError() << "'tensor.expand_shape' makes several dynamic dimensions of one: output_shape = [..] "
                               << "says how large they are";
    }
    if (dynamic < 0)
      continue;
    if (rest == 0)
      return op->emitError() << "'tensor.expand_shape' makes a dynamic dimension beside one of no elements: "
                             << "output_shape = [..] says how large it is";
    const OpFoldResult size =
        tensor::getMixedSize(builder, op->getLoc(), op->getOperand(0), static_cast<int64_t>(dimension));
    sizes[static_cast<size_t>(dynamic)] = affine::makeComposedFoldedAffineApply(
        builder, op->getLoc(), builder.getAffineSymbolExpr(0).floorDiv(rest), {size});
  }
  Operation *today = tensor::ExpandShapeOp::create(builder, op->getLoc(), to, op->getOperand(0), indices, sizes);
  if (failed(verify(today)))
    return failure();
  op->replaceAllUsesWith(today);
  op->erase();
  return success();
}

} // namespace

LogicalResult readOtherYears(ModuleOp module) {
  SmallVector<Operation *> found;
  module.walk([&](Operation *op) {
    const StringRef name = op->getName().getStringRef();
    const auto [dialect, word] = name.split('.');
    if ((dialect == "tosa" || dialect == "tensor") && !word.empty() && llvm::isUpper(word.front()))
      found.push_back(op);
  });
  bool ok = true;
  for (Operation *op : found)
    ok &= succeeded(op->getName().getStringRef() == "tensor.Expand_shape" ? readExpandShape(op)
                                                                          : readTosaOfOtherYears(op));
  return success(ok);
}

} // namespace tenon::compiler::input
