// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models whose weights nobody needs, for tests and for measuring, say a number for all bytes of a tensor. It is a
// splat: whatever the size of the element, all of its bytes are that number.
#include "compiler/dialect/util/UtilOps.h"
#include "compiler/input/steps/steps.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

/// No element: one of this type has no bytes of its own, or is not one number.
Attribute elementOf(Type type, uint8_t byte) {
  if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() % 8 != 0)
    return {};
  const APInt bits = APInt::getSplat(type.getIntOrFloatBitWidth(), APInt(8, byte));
  if (auto number = dyn_cast<FloatType>(type))
    return FloatAttr::get(type, APFloat(number.getFloatSemantics(), bits));
  return IntegerAttr::get(type, bits);
}

/// Without a byte any number will do.
LogicalResult replace(Operation *op, StringAttr name, TypedAttr pattern, std::optional<uint8_t> byte) {
  auto type = dyn_cast<RankedTensorType>(pattern.getType());
  Attribute element;
  if (type && type.hasStaticShape())
    element = byte ? elementOf(type.getElementType(), *byte) : Builder(op).getZeroAttr(type.getElementType());
  if (!element)
    return op->emitError() << "found " << pattern
                           << ", a tensor of static shape is wanted whose elements are numbers of whole bytes";
  op->setAttr(name, SplatElementsAttr::get(type, element));
  return success();
}

} // namespace

LogicalResult readBytePatterns(ModuleOp module) {
  bool ok = true;
  module.walk([&](Operation *op) {
    for (NamedAttribute attribute : llvm::to_vector(op->getAttrs()))
      if (auto pattern = dyn_cast<util::BytePatternAttr>(attribute.getValue()))
        ok &= succeeded(replace(op, attribute.getName(), pattern, uint8_t(pattern.getPattern())));
      else if (auto anything = dyn_cast<util::UninitializedAttr>(attribute.getValue()))
        ok &= succeeded(replace(op, attribute.getName(), anything, std::nullopt));
  });
  return success(ok);
}

} // namespace tenon::compiler::input
