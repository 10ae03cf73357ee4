// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// flow.dispatch: its text, its parts by position, and its shapes. Verification is in FlowVerify.cpp.
#include "compiler/dialect/flow/FlowOps.h"

#include "compiler/dialect/shared/assembly.h"
#include "compiler/dialect/shared/inliner.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tenon::compiler::flow {
// Pieces of the generated text, in FlowMoveOps.cpp.
ParseResult parseInPlaceOf(OpAsmParser &parser, OpAsmParser::UnresolvedOperand &target);
void printInPlaceOf(OpAsmPrinter &printer, Operation *op, Value target);
} // namespace tenon::compiler::flow

#include "compiler/dialect/flow/FlowDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/flow/FlowAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "compiler/dialect/flow/FlowOps.cpp.inc"

namespace tenon::compiler::flow {

void FlowDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/dialect/flow/FlowAttrs.cpp.inc"
      >();
}

void FlowDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/flow/FlowOps.cpp.inc"
      >();
  addInterfaces<AlwaysInline>();
}

// `<"scope"::"key">` or `<"key">`; the type stands behind it.
Attribute NamedParameterAttr::parse(AsmParser &parser, Type type) {
  std::string scope, key;
  if (parser.parseLess() || parser.parseString(&key))
    return {};
  if (succeeded(parser.parseOptionalColon())) {
    scope = std::move(key);
    if (parser.parseColon() || parser.parseString(&key))
      return {};
  }
  if (parser.parseGreater())
    return {};
  if (!type) {
    parser.emitError(parser.getNameLoc()) << "a parameter has a type: write `: TYPE` behind it";
    return {};
  }
  Builder builder(parser.getContext());
  return get(parser.getContext(), type, builder.getStringAttr(scope), builder.getStringAttr(key));
}

void NamedParameterAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (!getScope().empty())
    printer << getScope() << "::";
  printer << getKey() << '>';
}

void DispatchOp::build(OpBuilder &builder, OperationState &state, SymbolRefAttr entryPoint, ValueRange workload,
                       TypeRange resultTypes, ValueRange resultDims, ValueRange arguments, ValueRange argumentDims,
                       ArrayRef<int64_t> tiedOperands) {
  bool anyTied = llvm::any_of(tiedOperands, [](int64_t tied) { return tied >= 0; });
  build(builder, state, resultTypes, workload, builder.getArrayAttr({entryPoint}), arguments, argumentDims, resultDims,
        anyTied ? builder.getDenseI64ArrayAttr(tiedOperands) : DenseI64ArrayAttr());
}

ParseResult DispatchOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<Attribute> entryPoints;
  auto parseEntryPoint = [&]() -> ParseResult {
    SymbolRefAttr symbol;
    if (parser.parseAttribute(symbol))
      return failure();
    entryPoints.push_back(symbol);
    return success();
  };
  if (succeeded(parser.parseOptionalLBrace())) {
    if (parser.parseCommaSeparatedList(parseEntryPoint) || parser.parseRBrace())
      return failure();
  } else if (parseEntryPoint()) {
    return failure();
  }
  result.addAttribute(getEntryPointsAttrName(result.name), parser.getBuilder().getArrayAttr(entryPoints));
  DispatchSignature signature;
  if (parseDispatchOperands(parser, signature) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColon() || parseDispatchTypes(parser, signature))
    return failure();
  return resolveDispatch(parser, signature, result);
}

void DispatchOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  if (getEntryPoints().size() == 1) {
    printer << getEntryPoints()[0];
  } else {
    printer << '{';
    llvm::interleaveComma(getEntryPoints(), printer);
    printer << '}';
  }
  printDispatchOperands(printer, getWorkload(), getArguments());
  ArrayRef<int64_t> tied = getTiedOperands().value_or(ArrayRef<int64_t>());
  SmallVector<StringRef> elided = {getEntryPointsAttrName(), "operandSegmentSizes"};
  if (!areTiesAmbiguous(getArguments(), tied))
    elided.push_back(getTiedOperandsAttrName());
  printer.printOptionalAttrDict((*this)->getAttrs(), elided);
  printer << " : ";
  printDispatchTypes(printer, getArguments(), getArgumentDims(), getResultTypes(), getResultDims(), tied);
}

std::optional<unsigned> DispatchOp::getTiedOperandIndex(unsigned result) {
  ArrayRef<int64_t> tied = getTiedOperands().value_or(ArrayRef<int64_t>());
  if (result >= tied.size() || tied[result] < 0)
    return std::nullopt;
  return unsigned(tied[result]);
}

bool DispatchOp::isTied(unsigned argument) {
  return llvm::is_contained(getTiedOperands().value_or(ArrayRef<int64_t>()), int64_t(argument));
}

// The part of the flat list `dims` that belongs to `types[index]`.
static ValueRange dimsOf(TypeRange types, ValueRange dims, unsigned index) {
  unsigned start = 0;
  for (Type type : types.take_front(index))
    start += dynamicDimCount(type);
  return dims.slice(start, dynamicDimCount(types[index]));
}

ValueRange DispatchOp::argumentDims(unsigned argument) {
  return dimsOf(getArguments().getTypes(), getArgumentDims(), argument);
}

ValueRange DispatchOp::resultDims(unsigned result) {
  return dimsOf(getResultTypes(), getResultDims(), result);
}

SmallVector<unsigned> DispatchOp::tensorArguments() {
  return llvm::filter_to_vector(llvm::seq<unsigned>(0, getArguments().size()),
                                [&](unsigned i) { return isa<TensorType>(getArguments()[i].getType()); });
}

SmallVector<unsigned> DispatchOp::scalarArguments() {
  return llvm::filter_to_vector(llvm::seq<unsigned>(0, getArguments().size()),
                                [&](unsigned i) { return !isa<TensorType>(getArguments()[i].getType()); });
}

SmallVector<unsigned> DispatchOp::untiedResults() {
  return llvm::filter_to_vector(llvm::seq<unsigned>(0, getNumResults()),
                                [&](unsigned i) { return !getTiedOperandIndex(i); });
}

LogicalResult DispatchOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  for (auto [i, type] : llvm::enumerate(getResultTypes())) {
    SmallVector<OpFoldResult> &shape = shapes.emplace_back();
    auto ranked = dyn_cast<RankedTensorType>(type);
    if (!ranked)
      continue;
    shape = shapeWith(builder, ranked, resultDims(i));
  }
  return success();
}

} // namespace tenon::compiler::flow
