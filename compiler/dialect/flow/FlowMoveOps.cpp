// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// flow.tensor.*: rules of the operations that move elements. Their text is in FlowOps.td.
#include "compiler/dialect/flow/FlowOps.h"

#include "compiler/dialect/shared/assembly.h"

using namespace mlir;

namespace tenon::compiler::flow {
namespace {

LogicalResult verifyIndices(Operation *op, StringRef which, RankedTensorType type, ValueRange indices) {
  if (int64_t(indices.size()) == type.getRank())
    return success();
  return op->emitOpError() << "has " << indices.size() << ' ' << which << ", " << type << " wants " << type.getRank();
}

/// Of a tensor and what is a part of it.
LogicalResult verifyPart(Operation *op, RankedTensorType whole, RankedTensorType part) {
  if (whole.getElementType() == part.getElementType() && whole.getRank() == part.getRank())
    return success();
  return op->emitOpError() << "has " << part << " as a part of " << whole << ": the same rank and elements are wanted";
}

} // namespace

LogicalResult TensorSliceOp::verify() {
  if (failed(verifyPart(*this, getSource().getType(), getType())) ||
      failed(verifyDims(*this, "source", getSource().getType(), getSourceDims())) ||
      failed(verifyDims(*this, "result", getType(), getResultDims())) ||
      failed(verifyIndices(*this, "start indices", getSource().getType(), getStartIndices())))
    return failure();
  return verifyIndices(*this, "lengths", getSource().getType(), getLengths());
}

/// `%target as`, or nothing.
ParseResult parseInPlaceOf(OpAsmParser &parser, OpAsmParser::UnresolvedOperand &target) {
  OpAsmParser::UnresolvedOperand named;
  SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult isNamed = parser.parseOptionalOperand(named);
  if (!isNamed.has_value())
    return success();
  if (failed(*isNamed))
    return failure();
  if (named.name != target.name || named.number != target.number)
    return parser.emitError(loc) << "result is tied to '" << named.name << "', the target is '" << target.name << "'";
  return parser.parseKeyword("as");
}
void printInPlaceOf(OpAsmPrinter &printer, Operation *, Value target) {
  printer << target << " as ";
}

LogicalResult TensorUpdateOp::verify() {
  if (failed(verifyPart(*this, getTarget().getType(), getUpdate().getType())) ||
      failed(verifyDims(*this, "update", getUpdate().getType(), getUpdateDims())) ||
      failed(verifyDims(*this, "target", getTarget().getType(), getTargetDims())))
    return failure();
  return verifyIndices(*this, "start indices", getTarget().getType(), getStartIndices());
}

LogicalResult TensorSplatOp::verify() {
  return verifyDims(*this, "result", getType(), getResultDims());
}

LogicalResult TensorEmptyOp::verify() {
  return verifyDims(*this, "result", getType(), getResultDims());
}

LogicalResult TensorCloneOp::verify() {
  return verifyDims(*this, "source", getType(), getDynamicDims());
}

LogicalResult TensorTransferOp::verify() {
  return verifyDims(*this, "source", getType(), getDynamicDims());
}

LogicalResult TensorLoadOp::verify() {
  if (failed(verifyDims(*this, "source", getSource().getType(), getSourceDims())))
    return failure();
  return verifyIndices(*this, "indices", getSource().getType(), getIndices());
}

LogicalResult TensorStoreOp::verify() {
  if (failed(verifyDims(*this, "target", getTarget().getType(), getTargetDims())))
    return failure();
  return verifyIndices(*this, "indices", getTarget().getType(), getIndices());
}

} // namespace tenon::compiler::flow
