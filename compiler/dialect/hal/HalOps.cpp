// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Assembly of hal's operations but for hal.dispatch.extern (HalDispatchExtern.cpp). Verification is in HalVerify.cpp.
#include "compiler/dialect/hal/HalOps.h"

#include "compiler/dialect/hal/HalClauses.h"
#include "compiler/dialect/shared/assembly.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tenon::compiler::hal {

// custom<SymbolVisibility>, custom<VariantTarget>: names that the generated code looks up.
static void printSymbolVisibility(OpAsmPrinter &printer, Operation *, StringAttr visibility) {
  compiler::printSymbolVisibility(printer, visibility);
}

// `target(#t) objects([..])`, and `, target = #t, objects = [..]` of older files.
static ParseResult parseVariantTarget(OpAsmParser &parser, ExecutableTargetAttr &target, ArrayAttr &objects) {
  bool older = succeeded(parser.parseOptionalComma());
  if (parser.parseKeyword("target") || (older ? parser.parseEqual() : parser.parseLParen()) ||
      parser.parseCustomAttributeWithFallback(target) || (!older && parser.parseRParen()))
    return failure();
  if (older && succeeded(parser.parseOptionalComma()))
    return failure(parser.parseKeyword("objects") || parser.parseEqual() || parser.parseAttribute(objects));
  if (failed(parser.parseOptionalKeyword("objects")))
    return success();
  return failure(parser.parseLParen() || parser.parseAttribute(objects) || parser.parseRParen());
}

static void printVariantTarget(OpAsmPrinter &printer, Operation *, ExecutableTargetAttr target, ArrayAttr objects) {
  printer << "target(" << target << ')';
  if (objects)
    printer << " objects(" << objects << ')';
}

/// `ENCODING as TYPE`, or TYPE alone.
static ParseResult parseTypeAlias(OpAsmParser &parser, TypeAttr &encoding, Type &type) {
  if (parser.parseType(type))
    return failure();
  if (failed(parser.parseOptionalKeyword("as")))
    return success();
  encoding = TypeAttr::get(type);
  return parser.parseType(type);
}
static void printTypeAlias(OpAsmPrinter &printer, Operation *, TypeAttr encoding, Type type) {
  if (encoding)
    printer << encoding.getValue() << " as ";
  printer << type;
}

/// `wait(%fence) =>`, or nothing.
static ParseResult parseWaitFence(OpAsmParser &parser, std::optional<OpAsmParser::UnresolvedOperand> &fence) {
  if (failed(parser.parseOptionalKeyword("wait")))
    return success();
  fence.emplace();
  return failure(parser.parseLParen() || parser.parseOperand(*fence) || parser.parseRParen() || parser.parseEqual() ||
                 parser.parseGreater());
}

static void printWaitFence(OpAsmPrinter &printer, Operation *, Value fence) {
  if (fence)
    printer << "wait(" << fence << ") =>";
}

/// `=> %fence`.
static ParseResult parseSignalFence(OpAsmParser &parser, OpAsmParser::UnresolvedOperand &fence) {
  return failure(parser.parseEqual() || parser.parseGreater() || parser.parseOperand(fence));
}

static void printSignalFence(OpAsmPrinter &printer, Operation *, Value fence) {
  printer << "=> " << fence;
}

} // namespace tenon::compiler::hal

#define GET_OP_CLASSES
#include "compiler/dialect/hal/HalOps.cpp.inc"

namespace tenon::compiler::hal {

void HalDialect::registerOperations() {
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/hal/HalOps.cpp.inc"
      >();
}

//===-- hal.executable.source ------------------------------------------------------------------------------------===//

ParseResult ExecutableSourceOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr visibility, name;
  Region &body = *result.addRegion();
  if (parseSymbolVisibility(parser, visibility) ||
      parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes))
    return failure();
  result.addAttribute(getSymVisibilityAttrName(result.name), visibility);
  if (parseAttributes(parser, result.attributes) || parser.parseRegion(body))
    return failure();
  if (body.empty())
    body.emplaceBlock();
  return success();
}

void ExecutableSourceOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  compiler::printSymbolVisibility(printer, getSymVisibilityAttr());
  printer << ' ';
  printer.printSymbolName(getSymName());
  printAttributes(printer, *this, {getSymNameAttrName(), getSymVisibilityAttrName()});
  printer << ' ';
  printer.printRegion(getBody());
}

//===-- hal.executable.export ------------------------------------------------------------------------------------===//

ParseResult ExecutableExportOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc loc = parser.getCurrentLocation();
  StringAttr visibility, name;
  if (parseSymbolVisibility(parser, visibility) ||
      parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes))
    return failure();
  result.addAttribute(getSymVisibilityAttrName(result.name), visibility);
  Region &count = *result.addRegion();
  Region &condition = *result.addRegion();
  Type index = parser.getBuilder().getIndexType();
  auto parseClause = [&](StringRef word) -> ParseResult {
    if (word == "ordinal")
      return parseParenthesizedAttr(parser, getOrdinalAttrName(result.name), index, result);
    if (word == "layout")
      return parseLayoutClause(parser, getLayoutAttrName(result.name), result);
    if (word == "fallback")
      return parseParenthesizedAttr(parser, getConditionFallbackAttrName(result.name), {}, result);
    return parseTypedRegion(parser, word, word == "count" ? count : condition);
  };
  if (parseClauses(parser, result.attributes, {"ordinal", "layout", "count", "condition", "fallback"}, parseClause))
    return failure();
  if (!result.attributes.get(getLayoutAttrName(result.name)))
    return parser.emitError(loc) << "export '" << name.getValue() << "' has no layout(#hal.pipeline.layout<..>)";
  indexLaunchAttributes(parser, result.attributes,
                        {getSubgroupSizeAttrName(result.name), getWorkgroupLocalMemoryAttrName(result.name)});
  // The count region of older files stands last and names its arguments in a block header.
  SMLoc regionLoc = parser.getCurrentLocation();
  Region older;
  OptionalParseResult hasOlder = parser.parseOptionalRegion(older);
  if (!hasOlder.has_value())
    return success();
  if (failed(*hasOlder))
    return failure();
  if (!count.empty())
    return parser.emitError(regionLoc) << "the grid is given twice: by 'count' and by a trailing region";
  count.takeBody(older);
  return success();
}

void ExecutableExportOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  compiler::printSymbolVisibility(printer, getSymVisibilityAttr());
  printer << ' ';
  printer.printSymbolName(getSymName());
  if (IntegerAttr ordinal = getOrdinalAttr())
    printer << " ordinal(" << ordinal.getInt() << ')';
  printer << " layout(" << getLayout() << ')';
  if (!getCondition().empty()) {
    printer << " condition";
    printHostRegion(printer, getCondition(), IntegerType::get(getContext(), 1));
  }
  if (FlatSymbolRefAttr fallback = getConditionFallbackAttr())
    printer << " fallback(" << fallback << ')';
  if (hasCount()) {
    printer << " count";
    printHostRegion(printer, getWorkgroupCount(), countTypes(getContext()));
  }
  printAttributes(printer, *this,
                  {getSymNameAttrName(), getSymVisibilityAttrName(), getOrdinalAttrName(), getLayoutAttrName(),
                   getConditionFallbackAttrName()});
}

unsigned ExecutableExportOp::workloadRank() {
  unsigned arguments = hasCount() ? getWorkgroupCount().getNumArguments() : 0;
  return arguments == 0 ? 0 : arguments - 1; // the device comes first
}

//===-- hal.executable.condition, hal.executable.constant.block --------------------------------------------------===//

ParseResult ExecutableConditionOp::parse(OpAsmParser &parser, OperationState &result) {
  return failure(parseTypedRegion(parser, "condition", *result.addRegion()) ||
                 parser.parseOptionalAttrDictWithKeyword(result.attributes));
}

void ExecutableConditionOp::print(OpAsmPrinter &printer) {
  printHostRegion(printer, getBody(), IntegerType::get(getContext(), 1));
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
}

// (%device: !hal.device) -> (i32, i32) as ("foo", "bar") {..}
ParseResult ExecutableConstantBlockOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> types;
  SmallVector<Attribute> keys;
  auto parseKey = [&]() -> ParseResult {
    StringAttr key;
    if (parser.parseAttribute(key))
      return failure();
    keys.push_back(key);
    return success();
  };
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true) ||
      parser.parseArrowTypeList(types) || parser.parseKeyword("as"))
    return failure();
  if (succeeded(parser.parseOptionalLParen())) {
    if (parser.parseCommaSeparatedList(parseKey) || parser.parseRParen())
      return failure();
  } else if (parseKey()) {
    return failure();
  }
  result.addAttribute(getTypesAttrName(result.name), builder.getTypeArrayAttr(types));
  result.addAttribute(getKeysAttrName(result.name), builder.getArrayAttr(keys));
  return failure(parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parser.parseRegion(*result.addRegion(), arguments));
}

void ExecutableConstantBlockOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleaveComma(getBody().getArguments(), printer,
                        [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ')';
  SmallVector<Type> types = llvm::to_vector(getTypes().getAsValueRange<TypeAttr>());
  printer.printArrowTypeList(types);
  printer << " as ";
  if (getKeys().size() == 1) {
    printer << getKeys()[0];
  } else {
    printer << '(';
    llvm::interleaveComma(getKeys(), printer);
    printer << ')';
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getTypesAttrName(), getKeysAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===-- hal.device.query -----------------------------------------------------------------------------------------===//

// <%d : !hal.device> key("a" :: "b") : i1, i32 = 0 : i32
ParseResult DeviceQueryOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand device;
  Type deviceType, okType, valueType;
  StringAttr category, key;
  Type none = NoneType::get(parser.getContext()); // else a string takes the colon behind it for its type
  if (parser.parseLess() || parser.parseOperand(device) || parser.parseColonType(deviceType) || parser.parseGreater() ||
      parser.parseKeyword("key") || parser.parseLParen() ||
      parser.parseAttribute(category, none, getCategoryAttrName(result.name), result.attributes) ||
      parser.parseColon() || parser.parseColon() ||
      parser.parseAttribute(key, none, getKeyAttrName(result.name), result.attributes) || parser.parseRParen() ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(okType) || parser.parseComma() ||
      parser.parseType(valueType))
    return failure();
  if (succeeded(parser.parseOptionalEqual())) {
    Attribute defaultValue;
    if (parser.parseAttribute(defaultValue, getDefaultValueAttrName(result.name), result.attributes))
      return failure();
  }
  result.addTypes({okType, valueType});
  return parser.resolveOperand(device, deviceType, result.operands);
}

void DeviceQueryOp::print(OpAsmPrinter &printer) {
  printer << '<' << getDevice() << " : " << getDevice().getType() << "> key(" << getCategoryAttr()
          << " :: " << getKeyAttr() << ')';
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getCategoryAttrName(), getKeyAttrName(), getDefaultValueAttrName()});
  printer << " : " << getOk().getType() << ", " << getValue().getType();
  if (Attribute defaultValue = getDefaultValueAttr())
    printer << " = " << defaultValue;
}

} // namespace tenon::compiler::hal
