// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text in and out, shared by the operations of several dialects. MLIR's declarative formats cannot say these forms:
// types that carry the values of their dynamic dimensions, and results that are named by the operand they are tied to.
#include "compiler/dialect/shared/assembly.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace tenon::compiler {

unsigned dynamicDimCount(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.hasRank() ? unsigned(shaped.getNumDynamicDims()) : 0;
}

ParseResult parseKeywordOf(AsmParser &parser, StringRef &word, ArrayRef<StringRef> words) {
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword(&word, words)))
    return success();
  InFlightDiagnostic error = parser.emitError(loc) << "expected ";
  for (auto [i, candidate] : llvm::enumerate(words))
    error << (i == 0 ? "'" : i + 1 == words.size() ? " or '" : ", '") << candidate << "'";
  return error;
}

//===-- Attributes -----------------------------------------------------------------------------------------------===//

// `name = value`, `name` (a unit).
static ParseResult parseEntry(OpAsmParser &parser, NamedAttrList &entries) {
  SMLoc loc = parser.getCurrentLocation();
  std::string name;
  if (parser.parseKeywordOrString(&name))
    return failure();
  Attribute value = parser.getBuilder().getUnitAttr();
  if (succeeded(parser.parseOptionalEqual()) && parser.parseAttribute(value))
    return failure();
  if (entries.get(name))
    return parser.emitError(loc) << "attribute '" << name << "' is given twice";
  entries.append(name, value);
  return success();
}

OptionalParseResult parseOptionalAttributes(OpAsmParser &parser, NamedAttrList &attributes) {
  SMLoc loc = parser.getCurrentLocation();
  NamedAttrList entries;
  if (succeeded(parser.parseOptionalLess())) {
    ParseResult parsed = parser.parseOptionalAttrDict(entries); // <{..}>
    if (succeeded(parsed) && failed(parser.parseOptionalGreater()))
      parsed =
          failure(parser.parseCommaSeparatedList([&] { return parseEntry(parser, entries); }) || parser.parseGreater());
    if (failed(parsed))
      return failure();
  } else if (succeeded(parser.parseOptionalKeyword("attributes"))) {
    if (failed(parser.parseOptionalAttrDict(entries)))
      return failure();
  } else {
    return std::nullopt;
  }
  for (NamedAttribute entry : entries) {
    if (attributes.get(entry.getName()))
      return parser.emitError(loc) << "attribute '" << entry.getName().getValue() << "' is given twice";
    attributes.push_back(entry);
  }
  return success();
}

ParseResult parseAttributes(OpAsmParser &parser, NamedAttrList &attributes) {
  while (true) {
    OptionalParseResult parsed = parseOptionalAttributes(parser, attributes);
    if (!parsed.has_value())
      return success();
    if (failed(*parsed))
      return failure();
  }
}

void printAttributes(OpAsmPrinter &printer, Operation *op, ArrayRef<StringRef> elided) {
  ArrayRef<StringAttr> own = op->getName().getAttributeNames();
  SmallVector<NamedAttribute> inherent = llvm::filter_to_vector(op->getAttrs(), [&](NamedAttribute entry) {
    return llvm::is_contained(own, entry.getName()) && !llvm::is_contained(elided, entry.getName().getValue());
  });
  if (!inherent.empty()) {
    printer << " <";
    llvm::interleaveComma(inherent, printer, [&](NamedAttribute entry) {
      printer << entry.getName().getValue();
      if (!isa<UnitAttr>(entry.getValue()))
        printer << " = " << entry.getValue();
    });
    printer << '>';
  }
  printer.printOptionalAttrDictWithKeyword(llvm::to_vector(op->getDiscardableAttrs()), elided);
}

ParseResult parseSymbolVisibility(OpAsmParser &parser, StringAttr &visibility) {
  StringRef word = "public";
  (void)parser.parseOptionalKeyword(&word, {"public", "private", "nested"});
  visibility = parser.getBuilder().getStringAttr(word);
  return success();
}

void printSymbolVisibility(OpAsmPrinter &printer, StringAttr visibility) {
  printer << (visibility ? visibility.getValue() : StringRef("public"));
}

ParseResult parseHostRegion(OpAsmParser &parser, Region &region, SmallVectorImpl<Type> &resultTypes) {
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true) ||
      parser.parseArrowTypeList(resultTypes))
    return failure();
  return parser.parseRegion(region, arguments);
}

void printHostRegion(OpAsmPrinter &printer, Region &region, TypeRange resultTypes) {
  printer << '(';
  llvm::interleaveComma(region.getArguments(), printer,
                        [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ')';
  printer.printArrowTypeList(resultTypes);
  printer << ' ';
  printer.printRegion(region, /*printEntryBlockArgs=*/false);
}

//===-- Dispatch signatures --------------------------------------------------------------------------------------===//

ParseResult parseDispatchOperands(OpAsmParser &parser, DispatchSignature &signature) {
  if (parser.parseOperandList(signature.workload, OpAsmParser::Delimiter::OptionalSquare))
    return failure();
  signature.argumentsLoc = parser.getCurrentLocation();
  return parser.parseOperandList(signature.arguments, OpAsmParser::Delimiter::Paren);
}

LogicalResult verifyDims(Operation *op, StringRef which, Type type, ValueRange dims) {
  if (dims.size() == dynamicDimCount(type))
    return success();
  return op->emitOpError() << "has " << dims.size() << " dynamic dimensions for its " << which << ", " << type
                           << " wants " << dynamicDimCount(type);
}

ParseResult parseDims(OpAsmParser &parser, Type type, SmallVectorImpl<OpAsmParser::UnresolvedOperand> &allDims) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  SmallVector<OpAsmParser::UnresolvedOperand> dims;
  if (parser.parseOperandList(dims, OpAsmParser::Delimiter::OptionalBraces))
    return failure();
  unsigned wanted = dynamicDimCount(type);
  if (dims.size() != wanted)
    return parser.emitError(loc) << "found " << dims.size() << " dynamic dimension" << (dims.size() == 1 ? "" : "s")
                                 << ", " << type << " wants " << wanted
                                 << ": write one value in {} for each '?' of the type";
  llvm::append_range(allDims, dims);
  return success();
}

SmallVector<OpFoldResult> shapeWith(OpBuilder &builder, RankedTensorType type, ValueRange dims) {
  SmallVector<OpFoldResult> shape;
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size)) {
      shape.push_back(dims.front());
      dims = dims.drop_front();
    } else {
      shape.push_back(builder.getIndexAttr(size));
    }
  }
  return shape;
}

static ParseResult parseResult(OpAsmParser &parser, DispatchSignature &signature) {
  OpAsmParser::UnresolvedOperand tied;
  llvm::SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult isTied = parser.parseOptionalOperand(tied);
  Type type;
  int64_t tiedTo = -1;
  if (isTied.has_value()) {
    if (failed(*isTied))
      return failure();
    const auto *found = llvm::find_if(signature.arguments, [&](const OpAsmParser::UnresolvedOperand &argument) {
      return argument.name == tied.name && argument.number == tied.number;
    });
    if (found == signature.arguments.end())
      return parser.emitError(loc) << "result is tied to '" << tied.name
                                   << "', which is not an argument of the dispatch";
    tiedTo = found - signature.arguments.begin();
    type = signature.argumentTypes[tiedTo];
    if (succeeded(parser.parseOptionalKeyword("as")) && parser.parseType(type))
      return failure();
  } else if (parser.parseType(type)) {
    return failure();
  }
  signature.tiedOperands.push_back(tiedTo);
  signature.resultTypes.push_back(type);
  return parseDims(parser, type, signature.resultDims);
}

ParseResult parseDispatchTypes(OpAsmParser &parser, DispatchSignature &signature) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  auto parseArgument = [&]() -> ParseResult {
    Type &type = signature.argumentTypes.emplace_back();
    return failure(parser.parseType(type) || parseDims(parser, type, signature.argumentDims));
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseArgument))
    return failure();
  if (signature.argumentTypes.size() != signature.arguments.size())
    return parser.emitError(loc) << "found " << signature.argumentTypes.size() << " argument type"
                                 << (signature.argumentTypes.size() == 1 ? "" : "s") << ", the dispatch has "
                                 << signature.arguments.size() << " argument"
                                 << (signature.arguments.size() == 1 ? "" : "s");
  if (parser.parseArrow())
    return failure();
  if (succeeded(parser.parseOptionalLParen())) {
    if (succeeded(parser.parseOptionalRParen()))
      return success();
    return failure(parser.parseCommaSeparatedList([&] { return parseResult(parser, signature); }) ||
                   parser.parseRParen());
  }
  return parser.parseCommaSeparatedList([&] { return parseResult(parser, signature); });
}

ParseResult resolveDispatch(OpAsmParser &parser, DispatchSignature &signature, OperationState &result) {
  Builder &builder = parser.getBuilder();
  Type index = builder.getIndexType();
  if (parser.resolveOperands(signature.workload, index, result.operands) ||
      parser.resolveOperands(signature.arguments, signature.argumentTypes, signature.argumentsLoc, result.operands) ||
      parser.resolveOperands(signature.argumentDims, index, result.operands) ||
      parser.resolveOperands(signature.resultDims, index, result.operands))
    return failure();
  result.addTypes(signature.resultTypes);
  result.addAttribute(
      "operandSegmentSizes",
      builder.getDenseI32ArrayAttr({int32_t(signature.workload.size()), int32_t(signature.arguments.size()),
                                    int32_t(signature.argumentDims.size()), int32_t(signature.resultDims.size())}));
  if (!result.attributes.get("tied_operands") &&
      llvm::any_of(signature.tiedOperands, [](int64_t tied) { return tied >= 0; }))
    result.addAttribute("tied_operands", builder.getDenseI64ArrayAttr(signature.tiedOperands));
  return success();
}

bool areTiesAmbiguous(ValueRange arguments, ArrayRef<int64_t> tiedOperands) {
  return llvm::any_of(tiedOperands, [&](int64_t tied) {
    return tied > 0 && size_t(tied) < arguments.size() &&
           llvm::is_contained(arguments.take_front(tied), arguments[tied]);
  });
}

void printDispatchOperands(OpAsmPrinter &printer, ValueRange workload, ValueRange arguments) {
  if (!workload.empty())
    printer << '[' << workload << ']';
  printer << '(' << arguments << ')';
}

// Prints `{%d0, %d1}` for the dynamic dimensions of `type` and drops them from `dims`.
static void printDims(OpAsmPrinter &printer, Type type, ValueRange &dims) {
  unsigned count = std::min<unsigned>(dynamicDimCount(type), dims.size());
  if (count == 0)
    return;
  printer << '{' << dims.take_front(count) << '}';
  dims = dims.drop_front(count);
}

void printDispatchTypes(OpAsmPrinter &printer, ValueRange arguments, ValueRange argumentDims, TypeRange resultTypes,
                        ValueRange resultDims, ArrayRef<int64_t> tiedOperands) {
  printer << '(';
  llvm::interleaveComma(arguments, printer, [&](Value argument) {
    printer << argument.getType();
    printDims(printer, argument.getType(), argumentDims);
  });
  printer << ") -> ";
  if (resultTypes.size() != 1)
    printer << '(';
  for (auto [i, type] : llvm::enumerate(resultTypes)) {
    if (i != 0)
      printer << ", ";
    int64_t tied = i < tiedOperands.size() ? tiedOperands[i] : -1;
    if (tied >= 0 && size_t(tied) < arguments.size()) {
      printer << arguments[tied];
      if (arguments[tied].getType() != type)
        printer << " as " << type;
    } else {
      printer << type;
    }
    printDims(printer, type, resultDims);
  }
  if (resultTypes.size() != 1)
    printer << ')';
}

} // namespace tenon::compiler
