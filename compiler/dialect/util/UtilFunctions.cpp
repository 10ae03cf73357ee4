// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text of util's functions, globals and assumptions: the forms that MLIR's declarative formats cannot say.
#include "compiler/dialect/shared/assembly.h"
#include "compiler/dialect/util/UtilOps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tenon::compiler::util {

//===-- util.func ------------------------------------------------------------------------------------------------===//

namespace {
// What stands between a function's name and its attributes.
struct Signature {
  SmallVector<OpAsmParser::Argument> arguments; // without a name where there is no body
  SmallVector<Type> argumentTypes, resultTypes;
  SmallVector<Attribute> argumentAttributes, resultAttributes;

  // `%a: tensor<4xf32> {iree.x}`, or without the name.
  ParseResult parseArgument(OpAsmParser &parser) {
    OpAsmParser::Argument argument;
    OptionalParseResult named = parser.parseOptionalArgument(argument, /*allowType=*/true, /*allowAttrs=*/true);
    if (named.has_value()) {
      if (failed(*named))
        return failure();
      arguments.push_back(argument);
      argumentTypes.push_back(argument.type);
      argumentAttributes.push_back(argument.attrs ? argument.attrs : parser.getBuilder().getDictionaryAttr({}));
      return success();
    }
    NamedAttrList attributes;
    if (parser.parseType(argumentTypes.emplace_back()) || parser.parseOptionalAttrDict(attributes))
      return failure();
    argumentAttributes.push_back(attributes.getDictionary(parser.getContext()));
    return success();
  }

  // `tensor<4xf32>`, `%a` (its type) or `%a as tensor<4xf32>`; attributes behind it only between parentheses, where no
  // body can be meant.
  ParseResult parseResult(OpAsmParser &parser, bool mayHaveAttributes) {
    SMLoc loc = parser.getCurrentLocation();
    OpAsmParser::UnresolvedOperand tied;
    OptionalParseResult isTied = parser.parseOptionalOperand(tied);
    Type &type = resultTypes.emplace_back();
    if (isTied.has_value()) {
      if (failed(*isTied))
        return failure();
      const auto *found = llvm::find_if(
          arguments, [&](const OpAsmParser::Argument &argument) { return argument.ssaName.name == tied.name; });
      if (found == arguments.end())
        return parser.emitError(loc) << "result is tied to '" << tied.name << "', which is no argument of the function";
      type = found->type;
      if (succeeded(parser.parseOptionalKeyword("as")) && parser.parseType(type))
        return failure();
    } else if (parser.parseType(type)) {
      return failure();
    }
    NamedAttrList attributes;
    if (mayHaveAttributes && parser.parseOptionalAttrDict(attributes))
      return failure();
    resultAttributes.push_back(attributes.getDictionary(parser.getContext()));
    return success();
  }

  ParseResult parse(OpAsmParser &parser) {
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, [&] { return parseArgument(parser); }))
      return failure();
    if (failed(parser.parseOptionalArrow()))
      return success();
    if (failed(parser.parseOptionalLParen()))
      return parseResult(parser, false);
    if (succeeded(parser.parseOptionalRParen()))
      return success();
    return failure(parser.parseCommaSeparatedList([&] { return parseResult(parser, true); }) || parser.parseRParen());
  }
};

bool anyEntries(ArrayRef<Attribute> dictionaries) {
  return llvm::any_of(dictionaries, [](Attribute entry) { return !cast<DictionaryAttr>(entry).empty(); });
}
} // namespace

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringAttr visibility, name;
  Signature signature;
  if (parseSymbolVisibility(parser, visibility) ||
      parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes) || signature.parse(parser))
    return failure();
  result.addAttribute(getSymVisibilityAttrName(result.name), visibility);
  result.addAttribute(getFunctionTypeAttrName(result.name),
                      TypeAttr::get(builder.getFunctionType(signature.argumentTypes, signature.resultTypes)));
  if (anyEntries(signature.argumentAttributes))
    result.addAttribute(getArgAttrsAttrName(result.name), builder.getArrayAttr(signature.argumentAttributes));
  if (anyEntries(signature.resultAttributes))
    result.addAttribute(getResAttrsAttrName(result.name), builder.getArrayAttr(signature.resultAttributes));
  Region &body = *result.addRegion();
  if (parseAttributes(parser, result.attributes))
    return failure();
  OptionalParseResult hasBody = parser.parseOptionalRegion(body, signature.arguments);
  return hasBody.has_value() ? *hasBody : success();
}

void FuncOp::print(OpAsmPrinter &printer) {
  auto type = cast<FunctionType>(getFunctionType());
  ArrayAttr argumentAttributes = getArgAttrsAttr(), resultAttributes = getResAttrsAttr();
  auto attributesAt = [](ArrayAttr list, size_t i) {
    return list ? cast<DictionaryAttr>(list[i]).getValue() : ArrayRef<NamedAttribute>();
  };
  printer << ' ';
  compiler::printSymbolVisibility(printer, getSymVisibilityAttr());
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  for (auto [i, input] : llvm::enumerate(type.getInputs())) {
    if (i != 0)
      printer << ", ";
    if (getBody().empty())
      printer << input;
    else
      printer.printRegionArgument(getBody().getArgument(i), {}, false);
    printer.printOptionalAttrDict(attributesAt(argumentAttributes, i));
  }
  printer << ')';
  if (!type.getResults().empty()) {
    printer << " -> (";
    for (auto [i, output] : llvm::enumerate(type.getResults())) {
      printer << (i != 0 ? ", " : "") << output;
      printer.printOptionalAttrDict(attributesAt(resultAttributes, i));
    }
    printer << ')';
  }
  printAttributes(printer, *this,
                  {getSymNameAttrName(), getSymVisibilityAttrName(), getFunctionTypeAttrName(), getArgAttrsAttrName(),
                   getResAttrsAttrName()});
  if (getBody().empty())
    return;
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult FuncOp::verify() {
  auto type = dyn_cast<FunctionType>(getFunctionType());
  if (!type)
    return emitOpError() << "has type " << getFunctionType() << ", a function type is wanted";
  auto fits = [](ArrayAttr list, size_t count) {
    return !list || (list.size() == count && llvm::all_of(list, llvm::IsaPred<DictionaryAttr>));
  };
  if (!fits(getArgAttrsAttr(), type.getNumInputs()) || !fits(getResAttrsAttr(), type.getNumResults()))
    return emitOpError("has attributes of other arguments or results than its type");
  if (!getBody().empty() && getBody().getArgumentTypes() != type.getInputs())
    return emitOpError("has a body with other arguments than its type");
  return success();
}

//===-- util.initializer -----------------------------------------------------------------------------------------===//

ParseResult InitializerOp::parse(OpAsmParser &parser, OperationState &result) {
  return failure(parseAttributes(parser, result.attributes) || parser.parseRegion(*result.addRegion()));
}

void InitializerOp::print(OpAsmPrinter &printer) {
  printAttributes(printer, *this, {});
  printer << ' ';
  printer.printRegion(getBody());
}

//===-- util.call ------------------------------------------------------------------------------------------------===//

// `@f(%a) : (tensor<4xf32>) -> tensor<4xf32>`; a result may name an operand, whose type it then has.
ParseResult CallOp::parse(OpAsmParser &parser, OperationState &result) {
  FlatSymbolRefAttr callee;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> operandTypes, resultTypes;
  if (parser.parseAttribute(callee, getCalleeAttrName(result.name), result.attributes))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                     [&] { return parser.parseType(operandTypes.emplace_back()); }) ||
      parser.parseArrow() || parser.resolveOperands(operands, operandTypes, loc, result.operands))
    return failure();
  auto parseResult = [&]() -> ParseResult {
    SMLoc resultLoc = parser.getCurrentLocation();
    OpAsmParser::UnresolvedOperand tied;
    OptionalParseResult isTied = parser.parseOptionalOperand(tied);
    Type &type = resultTypes.emplace_back();
    if (!isTied.has_value())
      return parser.parseType(type);
    const auto *found = llvm::find_if(operands, [&](const OpAsmParser::UnresolvedOperand &operand) {
      return operand.name == tied.name && operand.number == tied.number;
    });
    if (failed(*isTied) || found == operands.end())
      return parser.emitError(resultLoc) << "result is tied to '" << tied.name << "', which is no operand of the call";
    type = operandTypes[found - operands.begin()];
    return succeeded(parser.parseOptionalKeyword("as")) ? parser.parseType(type) : ParseResult(success());
  };
  if (failed(parser.parseOptionalLParen())) {
    if (parseResult())
      return failure();
  } else if (failed(parser.parseOptionalRParen()) &&
             (parser.parseCommaSeparatedList(parseResult) || parser.parseRParen())) {
    return failure();
  }
  result.addTypes(resultTypes);
  return success();
}

void CallOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getCalleeAttr() << '(' << getOperands() << ')';
  printer.printOptionalAttrDict((*this)->getAttrs(), {getCalleeAttrName()});
  printer << " : ";
  printer.printFunctionalType(*this);
}

//===-- util.global ----------------------------------------------------------------------------------------------===//

// `private mutable @g : tensor<4xf32> = dense<1.0> : tensor<4xf32>`, `@g = 4 : i32`, `@g : tensor<4xf32>`.
ParseResult GlobalOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr visibility, name;
  if (parseSymbolVisibility(parser, visibility))
    return failure();
  result.addAttribute(getSymVisibilityAttrName(result.name), visibility);
  if (succeeded(parser.parseOptionalKeyword("mutable")))
    result.addAttribute(getIsMutableAttrName(result.name), parser.getBuilder().getUnitAttr());
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes) ||
      parser.parseOptionalAttrDict(result.attributes) || parseAttributes(parser, result.attributes))
    return failure();
  Type type;
  Attribute value;
  if (succeeded(parser.parseOptionalColon()) && parser.parseType(type))
    return failure();
  if (succeeded(parser.parseOptionalEqual())) {
    if (parser.parseAttribute(value))
      return failure();
    if (auto typed = dyn_cast<TypedAttr>(value); typed && !type)
      type = typed.getType();
    result.addAttribute(getInitialValueAttrName(result.name), value);
  }
  if (!type)
    return parser.emitError(loc) << "global '" << name.getValue() << "' has no type: write : TYPE, or = VALUE : TYPE";
  result.addAttribute(getTypeAttrName(result.name), TypeAttr::get(type));
  return success();
}

void GlobalOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  compiler::printSymbolVisibility(printer, getSymVisibilityAttr());
  printer << (getIsMutable() ? " mutable " : " ");
  printer.printSymbolName(getSymName());
  printer.printOptionalAttrDict(llvm::to_vector((*this)->getDiscardableAttrs()));
  Attribute value = getInitialValueAttr();
  auto typed = dyn_cast_or_null<TypedAttr>(value);
  if (!typed || typed.getType() != getType())
    printer << " : " << getType();
  if (value)
    printer << " = " << value;
}

//===-- util.assume.int ------------------------------------------------------------------------------------------===//

// `<umin = 1, umax = 8, udiv = 4>`, each of them optional.
static ParseResult parseAssumption(OpAsmParser &parser, SmallVectorImpl<Attribute> &assumptions) {
  NamedAttrList entries;
  auto parseEntry = [&]() -> ParseResult {
    StringRef word;
    int64_t value;
    if (parseKeywordOf(parser, word, {"umin", "umax", "udiv"}) || parser.parseEqual() || parser.parseInteger(value))
      return failure();
    entries.set(word, parser.getBuilder().getI64IntegerAttr(value));
    return success();
  };
  if (parser.parseLess())
    return failure();
  if (failed(parser.parseOptionalGreater()) && (parser.parseCommaSeparatedList(parseEntry) || parser.parseGreater()))
    return failure();
  assumptions.push_back(entries.getDictionary(parser.getContext()));
  return success();
}

// `%a<umin = 1>, %b[<umax = 2>, <umax = 3>] : index, index`
ParseResult AssumeIntOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Attribute> assumptions;
  SmallVector<Type> types;
  auto parseOne = [&]() -> ParseResult {
    SmallVector<Attribute> ofOne;
    if (parser.parseOperand(operands.emplace_back()))
      return failure();
    ParseResult parsed = succeeded(parser.parseOptionalLSquare())
                             ? failure(parser.parseCommaSeparatedList([&] { return parseAssumption(parser, ofOne); }) ||
                                       parser.parseRSquare())
                             : parseAssumption(parser, ofOne);
    assumptions.push_back(parser.getBuilder().getArrayAttr(ofOne));
    return parsed;
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(parseOne) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonTypeList(types) || parser.resolveOperands(operands, types, loc, result.operands))
    return failure();
  result.addAttribute(getAssumptionsAttrName(result.name), parser.getBuilder().getArrayAttr(assumptions));
  result.addTypes(types);
  return success();
}

LogicalResult AssumeIntOp::verify() {
  auto isAssumption = [](Attribute entry) {
    auto numbers = dyn_cast<DictionaryAttr>(entry);
    return numbers && llvm::all_of(numbers, [](NamedAttribute number) { return isa<IntegerAttr>(number.getValue()); });
  };
  auto isList = [&](Attribute entry) {
    auto list = dyn_cast<ArrayAttr>(entry);
    return list && llvm::all_of(list, isAssumption);
  };
  if (getOperandTypes() != getResultTypes() || getAssumptions().size() != getNumOperands() ||
      !llvm::all_of(getAssumptions(), isList))
    return emitOpError(
        "has other results or assumptions than operands: one list of <umin = .., ..> for each is wanted");
  return success();
}

void AssumeIntOp::print(OpAsmPrinter &printer) {
  auto printAssumption = [&](Attribute assumption) {
    printer << '<';
    llvm::interleaveComma(cast<DictionaryAttr>(assumption), printer, [&](NamedAttribute entry) {
      printer << entry.getName().getValue() << " = " << cast<IntegerAttr>(entry.getValue()).getInt();
    });
    printer << '>';
  };
  printer << ' ';
  for (auto [i, operand, assumptions] : llvm::enumerate(getOperands(), getAssumptions())) {
    auto list = cast<ArrayAttr>(assumptions);
    printer << (i != 0 ? ", " : "") << operand << (list.size() == 1 ? "" : "[");
    llvm::interleaveComma(list, printer, printAssumption);
    printer << (list.size() == 1 ? "" : "]");
  }
  printer.printOptionalAttrDict((*this)->getAttrs(), {getAssumptionsAttrName()});
  printer << " : " << getOperandTypes();
}

} // namespace tenon::compiler::util
