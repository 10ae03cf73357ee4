// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Assembly of hal.dispatch.extern: a dispatch that brings the declaration of its kernel, and its objects.
#include "compiler/dialect/hal/HalClauses.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/shared/assembly.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tenon::compiler::hal {

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
  auto parseClause = [&](StringRef word) -> ParseResult {
    if (word == "count")
      return parseTypedRegion(parser, word, count);
    if (word == "layout")
      return parseLayoutClause(parser, getLayoutAttrName(result.name), result);
    if (word == "bindings")
      return parseParenthesizedAttr(parser, getBindingsAttrName(result.name), {}, result);
    return objects.parse(parser);
  };
  if (parseClauses(parser, result.attributes, {"count", "layout", "bindings", "objects"}, parseClause))
    return failure();
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
