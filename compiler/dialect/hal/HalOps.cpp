// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Assembly of hal's operations. Verification is in HalVerify.cpp.
#include "compiler/dialect/hal/HalOps.h"

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

/// `wait(%fence) =>`, or nothing.
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

// `count(..) -> (index, index, index) {..}` or `condition(..) -> i1 {..}`, the keyword already read.
static ParseResult parseTypedRegion(OpAsmParser &parser, StringRef keyword, Region &region) {
  SMLoc loc = parser.getCurrentLocation();
  if (!region.empty())
    return parser.emitError(loc) << "'" << keyword << "' is given twice";
  SmallVector<Type> types;
  if (parseHostRegion(parser, region, types))
    return failure();
  Type index = parser.getBuilder().getIndexType();
  Type i1 = parser.getBuilder().getI1Type();
  bool right = keyword == "count" ? types.size() == 3 && llvm::all_equal(types) && types[0] == index
                                  : types.size() == 1 && types[0] == i1;
  if (!right)
    return parser.emitError(loc) << "'" << keyword << "' is declared to return (" << types << "), "
                                 << (keyword == "count" ? "(index, index, index)" : "i1") << " is wanted";
  return success();
}

static SmallVector<Type> countTypes(MLIRContext *context) {
  return SmallVector<Type>(3, IndexType::get(context));
}

static ParseResult parseParenthesizedAttr(OpAsmParser &parser, StringRef name, Type type, OperationState &result) {
  Attribute value;
  if (parser.parseLParen() || parser.parseAttribute(value, type) || parser.parseRParen())
    return failure();
  result.addAttribute(name, value);
  return success();
}

static ParseResult parseLayoutClause(OpAsmParser &parser, StringRef name, OperationState &result) {
  PipelineLayoutAttr layout;
  if (parser.parseLParen() || parser.parseCustomAttributeWithFallback(layout) || parser.parseRParen())
    return failure();
  result.addAttribute(name, layout);
  return success();
}

// Launch attributes are numbers of type index. Users write others too, which say the same.
static void indexLaunchAttributes(OpAsmParser &parser, NamedAttrList &attributes, ArrayRef<StringAttr> names) {
  for (StringAttr name : names)
    if (auto number = dyn_cast_or_null<IntegerAttr>(attributes.get(name));
        number && number.getValue().getBitWidth() <= 64)
      attributes.set(name, parser.getBuilder().getIndexAttr(number.getValue().getSExtValue()));
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
  StringRef word;
  while (true) {
    OptionalParseResult isAttributes = parseOptionalAttributes(parser, result.attributes);
    if (isAttributes.has_value()) {
      if (failed(*isAttributes))
        return failure();
      continue;
    }
    if (failed(parser.parseOptionalKeyword(&word, {"ordinal", "layout", "count", "condition", "fallback"})))
      break;
    ParseResult parsed = success();
    if (word == "ordinal")
      parsed = parseParenthesizedAttr(parser, getOrdinalAttrName(result.name), index, result);
    else if (word == "layout")
      parsed = parseLayoutClause(parser, getLayoutAttrName(result.name), result);
    else if (word == "fallback")
      parsed = parseParenthesizedAttr(parser, getConditionFallbackAttrName(result.name), {}, result);
    else
      parsed = parseTypedRegion(parser, word, word == "count" ? count : condition);
    if (parsed)
      return failure();
  }
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

//===-- hal.dispatch.extern --------------------------------------------------------------------------------------===//

namespace {
// objects({#target if(%device: !hal.device) -> i1 {..} ordinal(0) = [#hal.executable.object<..>], ..})
struct ExternObjects {
  SmallVector<Attribute> targets, ordinals, objects;
  SmallVector<std::unique_ptr<Region>> conditions;

  ParseResult parseEntry(OpAsmParser &parser) {
    ExecutableTargetAttr target;
    IntegerAttr ordinal;
    ArrayAttr ofTarget;
    auto &condition = conditions.emplace_back(std::make_unique<Region>());
    if (parser.parseCustomAttributeWithFallback(target) ||
        (succeeded(parser.parseOptionalKeyword("if")) && parseTypedRegion(parser, "condition", *condition)) ||
        parser.parseKeyword("ordinal") || parser.parseLParen() ||
        parser.parseAttribute(ordinal, parser.getBuilder().getIndexType()) || parser.parseRParen() ||
        parser.parseEqual() || parser.parseAttribute(ofTarget))
      return failure();
    targets.push_back(target);
    ordinals.push_back(ordinal);
    objects.push_back(ofTarget);
    return success();
  }

  ParseResult parse(OpAsmParser &parser) {
    return failure(parser.parseLParen() || parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Braces, [&] {
      return parseEntry(parser);
    }) || parser.parseRParen());
  }
};
} // namespace

ParseResult DispatchExternOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc loc = parser.getCurrentLocation();
  StringAttr name;
  DispatchSignature signature;
  if (parser.parseAttribute(name, getExportNameAttrName(result.name), result.attributes) ||
      parseDispatchOperands(parser, signature) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColon() || parseDispatchTypes(parser, signature) || resolveDispatch(parser, signature, result))
    return failure();
  Region &count = *result.addRegion();
  ExternObjects objects;
  StringRef word;
  while (true) {
    OptionalParseResult isAttributes = parseOptionalAttributes(parser, result.attributes);
    if (isAttributes.has_value()) {
      if (failed(*isAttributes))
        return failure();
      continue;
    }
    if (failed(parser.parseOptionalKeyword(&word, {"count", "layout", "bindings", "objects"})))
      break;
    ParseResult parsed = success();
    if (word == "count")
      parsed = parseTypedRegion(parser, word, count);
    else if (word == "layout")
      parsed = parseLayoutClause(parser, getLayoutAttrName(result.name), result);
    else if (word == "bindings")
      parsed = parseParenthesizedAttr(parser, getBindingsAttrName(result.name), {}, result);
    else
      parsed = objects.parse(parser);
    if (parsed)
      return failure();
  }
  if (!result.attributes.get(getLayoutAttrName(result.name)))
    return parser.emitError(loc) << "extern dispatch '" << name.getValue()
                                 << "' has no layout(#hal.pipeline.layout<..>)";
  Builder &builder = parser.getBuilder();
  result.addAttribute(getTargetsAttrName(result.name), builder.getArrayAttr(objects.targets));
  result.addAttribute(getTargetOrdinalsAttrName(result.name), builder.getArrayAttr(objects.ordinals));
  result.addAttribute(getTargetObjectsAttrName(result.name), builder.getArrayAttr(objects.objects));
  for (std::unique_ptr<Region> &condition : objects.conditions)
    result.addRegion(std::move(condition));
  indexLaunchAttributes(parser, result.attributes,
                        {getSubgroupSizeAttrName(result.name), getWorkgroupLocalMemoryAttrName(result.name)});
  return success();
}

void DispatchExternOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getExportNameAttr();
  printDispatchOperands(printer, getWorkload(), getArguments());
  ArrayRef<int64_t> tied = getTiedOperands().value_or(ArrayRef<int64_t>());
  if (areTiesAmbiguous(getArguments(), tied))
    printer << " {" << getTiedOperandsAttrName().getValue() << " = " << getTiedOperandsAttr() << '}';
  printer << " : ";
  printDispatchTypes(printer, getArguments(), getArgumentDims(), getResultTypes(), getResultDims(), tied);
  printer.increaseIndent();
  if (!getWorkgroupCount().empty()) {
    printer.printNewline();
    printer << "count";
    printHostRegion(printer, getWorkgroupCount(), countTypes(getContext()));
  }
  printer.printNewline();
  printer << "layout(" << getLayout() << ')';
  if (ArrayAttr bindings = getBindingsAttr()) {
    printer.printNewline();
    printer << "bindings(" << bindings << ')';
  }
  printer.printNewline();
  printer << "objects({";
  llvm::interleaveComma(llvm::seq<size_t>(0, getTargets().size()), printer, [&](size_t i) {
    printer << getTargets()[i];
    if (Region &condition = getTargetConditions()[i]; !condition.empty()) {
      printer << " if";
      printHostRegion(printer, condition, IntegerType::get(getContext(), 1));
    }
    printer << " ordinal(" << cast<IntegerAttr>(getTargetOrdinals()[i]).getInt() << ") = " << getTargetObjects()[i];
  });
  printer << "})";
  printer.decreaseIndent();
  printAttributes(printer, *this,
                  {getExportNameAttrName(), getLayoutAttrName(), getTargetsAttrName(), getTargetOrdinalsAttrName(),
                   getTargetObjectsAttrName(), getTiedOperandsAttrName(), getBindingsAttrName(),
                   "operandSegmentSizes"});
}

} // namespace tenon::compiler::hal
