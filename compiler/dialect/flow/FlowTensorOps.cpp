// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// flow.tensor.*: text and rules of the operations that name, hold or reinterpret tensors.
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/flow/packed.h"
#include "compiler/dialect/flow/prefix.h"

#include "compiler/dialect/shared/assembly.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace tenon::compiler::flow {

//===-- Constants ------------------------------------------------------------------------------------------------===//

// `dense<..> : tensor<4xf32> -> tensor<?xf32>`; the arrow may be missing where `wantsArrow` is false.
static ParseResult parseConstant(OpAsmParser &parser, OperationState &result, StringAttr valueName, bool wantsArrow) {
  TypedAttr value;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(result.attributes))
    return failure();
  Attribute attribute;
  if (parser.parseAttribute(attribute))
    return failure();
  value = dyn_cast<TypedAttr>(attribute);
  if (!value)
    return parser.emitError(loc) << "constant is " << attribute << ", dense<..> : tensor<..> is wanted";
  result.addAttribute(valueName, value);
  Type type = value.getType();
  const bool hasArrow = succeeded(parser.parseOptionalArrow());
  if (!hasArrow && wantsArrow)
    return parser.emitError(parser.getCurrentLocation())
           << "expected '->' and the type with dynamic dimensions, as in dense<1.0> : tensor<4xf32> -> tensor<?xf32>";
  if (hasArrow && parser.parseType(type))
    return failure();
  result.addTypes(type);
  return success();
}

static void printConstant(OpAsmPrinter &printer, Operation *op, TypedAttr value) {
  printer << ' ';
  printer.printOptionalAttrDict(op->getAttrs(), {"value"});
  printer << value;
  if (Type type = op->getResult(0).getType(); type != value.getType())
    printer << " -> " << type;
}

static LogicalResult verifyConstant(Operation *op, TypedAttr value) {
  Type from = value.getType(), to = op->getResult(0).getType();
  if (from == to)
    return success();
  auto source = dyn_cast<RankedTensorType>(from), result = dyn_cast<RankedTensorType>(to);
  if (!source || !result || source.getElementType() != result.getElementType() ||
      failed(verifyCompatibleShape(source, result)))
    return op->emitOpError() << "is " << to << ", its value is " << from
                             << ": the same element type and rank are wanted, with '?' or equal sizes";
  return success();
}

ParseResult TensorConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseConstant(parser, result, getValueAttrName(result.name), /*wantsArrow=*/false);
}
void TensorConstantOp::print(OpAsmPrinter &printer) {
  printConstant(printer, *this, getValue());
}
LogicalResult TensorConstantOp::verify() {
  return verifyConstant(*this, getValue());
}

ParseResult TensorDynamicConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseConstant(parser, result, getValueAttrName(result.name), /*wantsArrow=*/true);
}
void TensorDynamicConstantOp::print(OpAsmPrinter &printer) {
  printConstant(printer, *this, cast<TypedAttr>(Attribute(getValue())));
}
LogicalResult TensorDynamicConstantOp::verify() {
  return verifyConstant(*this, cast<TypedAttr>(Attribute(getValue())));
}

//===-- flow.tensor.tie_shape ------------------------------------------------------------------------------------===//

ParseResult TensorTieShapeOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand operand;
  SmallVector<OpAsmParser::UnresolvedOperand> dims;
  Type type;
  if (parser.parseOperand(operand) || parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type) ||
      parseDims(parser, type, dims) || parser.resolveOperand(operand, type, result.operands) ||
      parser.resolveOperands(dims, parser.getBuilder().getIndexType(), result.operands))
    return failure();
  result.addTypes(type);
  return success();
}

static void printTypeWithDims(OpAsmPrinter &printer, Type type, ValueRange dims) {
  printer << type;
  if (!dims.empty())
    printer << '{' << dims << '}';
}

void TensorTieShapeOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getSource();
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : ";
  printTypeWithDims(printer, getSource().getType(), getDynamicDims());
}

LogicalResult TensorTieShapeOp::verify() {
  return verifyDims(*this, "source", getSource().getType(), getDynamicDims());
}

LogicalResult TensorTieShapeOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(shapeWith(builder, cast<RankedTensorType>(getType()), getDynamicDims()));
  return success();
}

//===-- flow.tensor.bitcast, flow.tensor.reshape -----------------------------------------------------------------===//

// `%0 : tensor<?xi32>{%d} -> tensor<?x2xi16>{%e}`
static ParseResult parseReinterpret(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand source;
  SmallVector<OpAsmParser::UnresolvedOperand> sourceDims, resultDims;
  Type sourceType, resultType;
  Builder &builder = parser.getBuilder();
  if (parser.parseOperand(source) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(sourceType) || parseDims(parser, sourceType, sourceDims) || parser.parseArrow() ||
      parser.parseType(resultType) || parseDims(parser, resultType, resultDims) ||
      parser.resolveOperand(source, sourceType, result.operands) ||
      parser.resolveOperands(sourceDims, builder.getIndexType(), result.operands) ||
      parser.resolveOperands(resultDims, builder.getIndexType(), result.operands))
    return failure();
  result.addAttribute("operandSegmentSizes",
                      builder.getDenseI32ArrayAttr({1, int32_t(sourceDims.size()), int32_t(resultDims.size())}));
  result.addTypes(resultType);
  return success();
}

template <typename Op> static void printReinterpret(OpAsmPrinter &printer, Op op) {
  printer << ' ' << op.getSource();
  printer.printOptionalAttrDict(op->getAttrs(), {"operandSegmentSizes"});
  printer << " : ";
  printTypeWithDims(printer, op.getSource().getType(), op.getSourceDims());
  printer << " -> ";
  printTypeWithDims(printer, op.getType(), op.getResultDims());
}

bool hasPackedStorage(RankedTensorType type) {
  auto encoding = dyn_cast_or_null<OpaqueAttr>(type.getEncoding());
  return encoding && encoding.getDialectNamespace() == "iree_encoding" && encoding.getAttrData() == "packed_storage";
}

// In memory: a byte for i1, unless it is packed, as in every buffer; two i4 and four i2 share one, and what fits no
// byte evenly has its own.
static int64_t elementBits(RankedTensorType type) {
  if (!type.getElementType().isIntOrFloat())
    return 0;
  const int64_t width = type.getElementTypeBitWidth();
  if (width == 1 && hasPackedStorage(type))
    return 1;
  return width > 1 && width < 8 && 8 % width == 0 ? width : (width + 7) / 8 * 8;
}

template <typename Op> static LogicalResult verifyReinterpret(Op op) {
  auto source = cast<RankedTensorType>(op.getSource().getType()), result = cast<RankedTensorType>(op.getType());
  if (failed(verifyDims(op, "source", source, op.getSourceDims())) ||
      failed(verifyDims(op, "result", result, op.getResultDims())))
    return failure();
  if (!source.hasStaticShape() || !result.hasStaticShape() || !elementBits(source) || !elementBits(result))
    return success();
  const int64_t found = llvm::divideCeil(source.getNumElements() * elementBits(source), 8);
  const int64_t wanted = llvm::divideCeil(result.getNumElements() * elementBits(result), 8);
  if (wanted < found && op->hasAttr(kPrefixAttr))
    return success();
  if (found != wanted)
    return op.emitOpError() << "makes " << result << " (" << wanted << " bytes) of " << source << " (" << found
                            << " bytes): equal sizes are wanted";
  return success();
}

template <typename Op>
static LogicalResult reifyReinterpret(Op op, OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(shapeWith(builder, cast<RankedTensorType>(op.getType()), op.getResultDims()));
  return success();
}

ParseResult TensorBitCastOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseReinterpret(parser, result);
}
void TensorBitCastOp::print(OpAsmPrinter &printer) {
  printReinterpret(printer, *this);
}
LogicalResult TensorBitCastOp::verify() {
  return verifyReinterpret(*this);
}
LogicalResult TensorBitCastOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyReinterpret(*this, builder, shapes);
}

ParseResult TensorReshapeOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseReinterpret(parser, result);
}
void TensorReshapeOp::print(OpAsmPrinter &printer) {
  printReinterpret(printer, *this);
}
LogicalResult TensorReshapeOp::verify() {
  Type source = getSource().getType().getElementType(), result = getType().getElementType();
  if (source != result)
    return emitOpError() << "makes elements " << result << " of " << source
                         << ": flow.tensor.bitcast reinterprets them";
  return verifyReinterpret(*this);
}
LogicalResult TensorReshapeOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyReinterpret(*this, builder, shapes);
}

} // namespace tenon::compiler::flow
