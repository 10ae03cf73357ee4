// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tensor<8xi1, #iree_encoding.packed_storage>: eight elements in a byte, the first in its lowest bit. What a tensor
// holds does not depend on it, so that it matters only where bytes become such a tensor (flow.tensor.bitcast): there
// the bits are taken out. Elsewhere the encoding goes.
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/flow/packed.h"
#include "compiler/input/steps/steps.h"
#include "compiler/input/tensors/element_builder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

bool isPacked(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && flow::hasPackedStorage(tensor);
}

/// element [i] = byte [i / 8] >> i % 8
LogicalResult readBits(flow::TensorBitCastOp op) {
  auto from = cast<RankedTensorType>(op.getSource().getType()), to = cast<RankedTensorType>(op.getType());
  if (isPacked(from) && isPacked(to))
    return success();
  if (isPacked(from) || !from.getElementType().isInteger() || !from.hasStaticShape() || !to.hasStaticShape())
    return op->emitError() << "'flow.tensor.bitcast' of " << from << " to " << to << " is not supported: packed i1 is "
                           << "read from integers of static shape";
  OpBuilder builder(op);
  auto plain = RankedTensorType::get(to.getShape(), to.getElementType());
  const auto width = static_cast<int64_t>(from.getElementTypeBitWidth());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, op.getLoc(), op.getSource());
  auto row = RankedTensorType::get({from.getNumElements()}, from.getElementType());
  Value source = flow::TensorReshapeOp::create(builder, op.getLoc(), row, op.getSource(), ValueRange(), ValueRange());
  Value bits = buildElements(
      builder, op.getLoc(), plain, getAsIndexOpFoldResult(builder.getContext(), to.getShape()),
      [&](OpBuilder &b, Location loc, ValueRange indices) -> Value {
        Value place = arith::ConstantIndexOp::create(b, loc, 0);
        for (auto [index, size] : llvm::zip_equal(indices, to.getShape()))
          place = addIndex(b, loc, multiplyIndex(b, loc, place, b.getIndexAttr(size)), index);
        Value word = readElement(b, loc, source, divideIndex(b, loc, place, b.getIndexAttr(width)));
        Value bit = remainderIndex(b, loc, place, b.getIndexAttr(width));
        Value shift = arith::IndexCastOp::create(b, loc, word.getType(), bit);
        return arith::TruncIOp::create(b, loc, b.getI1Type(), arith::ShRUIOp::create(b, loc, word, shift));
      });
  op.replaceAllUsesWith(bits);
  op.erase();
  return success();
}

} // namespace

LogicalResult readPacked(ModuleOp module) {
  bool ok = true, isThere = false;
  module.walk([&](Operation *op) {
    if (auto function = dyn_cast<FunctionOpInterface>(op); function && function.isPublic())
      for (ArrayRef<Type> types : {function.getArgumentTypes(), function.getResultTypes()})
        if (llvm::any_of(types, isPacked)) {
          ok = false;
          op->emitError() << "a public function takes and returns i1 as a byte each: #iree_encoding.packed_storage is "
                          << "for what is inside of it";
        }
    isThere |= llvm::any_of(op->getResultTypes(), isPacked);
  });
  if (!ok || !isThere)
    return success(ok);
  SmallVector<flow::TensorBitCastOp> casts;
  module.walk([&](flow::TensorBitCastOp op) {
    if (isPacked(op.getType()) || isPacked(op.getSource().getType()))
      casts.push_back(op);
  });
  for (flow::TensorBitCastOp op : casts)
    ok &= succeeded(readBits(op));
  AttrTypeReplacer replacer;
  replacer.addReplacement([](RankedTensorType type) -> std::optional<std::pair<Type, WalkResult>> {
    if (!isPacked(type))
      return std::nullopt;
    return std::pair(Type(RankedTensorType::get(type.getShape(), type.getElementType())), WalkResult::skip());
  });
  replacer.addReplacement([](DenseElementsAttr values) -> std::optional<std::pair<Attribute, WalkResult>> {
    auto type = dyn_cast<RankedTensorType>(values.getType());
    if (!type || !isPacked(type))
      return std::nullopt;
    auto plain = RankedTensorType::get(type.getShape(), type.getElementType());
    return std::pair(Attribute(values.reshape(plain)), WalkResult::skip());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
  return success(ok);
}

} // namespace tenon::compiler::input
