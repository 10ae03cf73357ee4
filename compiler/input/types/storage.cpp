// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/input/types/storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::input {

bool isSmallFloat(Type type) {
  return isa<Float8E5M2Type, Float8E4M3Type, Float8E4M3FNType, Float8E5M2FNUZType, Float8E4M3FNUZType,
             Float8E4M3B11FNUZType, Float8E3M4Type, Float4E2M1FNType>(type);
}

bool isWidenedInKernels(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

bool isScale(Type type) {
  return isa<Float8E8M0FNUType>(type);
}

static unsigned storedWidth(unsigned width) {
  return std::max<unsigned>(8, llvm::PowerOf2Ceil(width));
}

bool isNarrowInteger(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.isSignless() && integer.getWidth() > 1 && integer.getWidth() < 64 &&
         storedWidth(integer.getWidth()) != integer.getWidth();
}

Type storageOf(Type element) {
  MLIRContext *context = element.getContext();
  if (isSmallFloat(element) || isScale(element))
    return IntegerType::get(context, 8);
  if (element.isIndex())
    return IntegerType::get(context, 64);
  if (auto integer = dyn_cast<IntegerType>(element);
      integer && (isNarrowInteger(element) || !integer.isSignless()) && integer.getWidth() <= 64)
    return IntegerType::get(context, storedWidth(integer.getWidth()));
  if (auto complex = dyn_cast<ComplexType>(element))
    if (isa<Float32Type, Float16Type, BFloat16Type>(complex.getElementType()))
      return IntegerType::get(context, 2 * complex.getElementType().getIntOrFloatBitWidth());
  return {};
}

RankedTensorType storageOfTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  Type storage = tensor ? storageOf(tensor.getElementType()) : Type();
  return storage ? tensor.clone(storage) : RankedTensorType();
}

bool isHeldAsOther(Type type) {
  return bool(storageOfTensor(type));
}

bool isForeign(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isSmallFloat(element) || isScale(element) || isNarrowInteger(element) || isa<ComplexType>(element) ||
         (isa<IntegerType>(element) && !element.isSignlessInteger());
}

Value fromStorage(OpBuilder &builder, Location loc, Value stored, Type type) {
  if (isa<Float4E2M1FNType>(type))
    stored = arith::TruncIOp::create(builder, loc, builder.getIntegerType(4), stored);
  if (isSmallFloat(type) || isScale(type))
    return arith::BitcastOp::create(builder, loc, type, stored);
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, stored);
  if (isNarrowInteger(type))
    return arith::TruncIOp::create(builder, loc, type, stored);
  if (isa<ComplexType>(type))
    return complex::BitcastOp::create(builder, loc, type, stored);
  return UnrealizedConversionCastOp::create(builder, loc, type, stored).getResult(0);
}

Value toStorage(OpBuilder &builder, Location loc, Value value) {
  Type type = value.getType(), storage = storageOf(type);
  if (isa<Float4E2M1FNType>(type)) {
    Value bits = arith::BitcastOp::create(builder, loc, builder.getIntegerType(4), value);
    return arith::ExtUIOp::create(builder, loc, storage, bits);
  }
  if (isSmallFloat(type) || isScale(type))
    return arith::BitcastOp::create(builder, loc, storage, value);
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, storage, value);
  if (isNarrowInteger(type))
    return arith::ExtSIOp::create(builder, loc, storage, value);
  if (isa<ComplexType>(type))
    return complex::BitcastOp::create(builder, loc, storage, value);
  return UnrealizedConversionCastOp::create(builder, loc, storage, value).getResult(0);
}

/// MLIR keeps an i4 in a byte and does not say what the rest of it is.
static DenseElementsAttr extended(DenseElementsAttr data, IntegerType from, IntegerType to) {
  auto extend = [&](const APInt &value) {
    return from.isUnsigned() ? value.zext(to.getWidth()) : value.sext(to.getWidth());
  };
  return cast<DenseIntElementsAttr>(data).mapValues(to, extend);
}

TypedAttr storedConstant(TypedAttr constant) {
  auto type = storageOfTensor(constant.getType());
  if (!type)
    return {};
  // Elements behind the text, byte for byte; how integers of odd widths lie there is not said.
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(constant)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    Type element = cast<RankedTensorType>(constant.getType()).getElementType();
    const bool isBytes = !isNarrowInteger(element) && !isa<Float4E2M1FNType>(element);
    bool isSplat = false;
    if (!blob || !isBytes || !DenseElementsAttr::isValidRawBuffer(type, blob->getData(), isSplat))
      return {};
    return DenseElementsAttr::getFromRawBuffer(type, blob->getData());
  }
  auto data = dyn_cast<DenseElementsAttr>(constant);
  if (!data)
    return {};
  auto storage = cast<IntegerType>(type.getElementType());
  if (auto integer = dyn_cast<IntegerType>(data.getElementType()); integer && integer.getWidth() != storage.getWidth())
    return extended(data, integer, storage);
  if (isa<Float4E2M1FNType>(data.getElementType()))
    return cast<DenseFPElementsAttr>(data).mapValues(
        storage, [](const APFloat &value) { return value.bitcastToAPInt().zext(8); });
  return DenseElementsAttr::getFromRawBuffer(type, data.getRawData());
}

} // namespace tenon::compiler::input
