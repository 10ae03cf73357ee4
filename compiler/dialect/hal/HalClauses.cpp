// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dialect/hal/HalClauses.h"

#include "compiler/dialect/hal/HalAttrs.h"
#include "compiler/dialect/shared/assembly.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tenon::compiler::hal {

ParseResult parseClauses(OpAsmParser &parser, NamedAttrList &attributes, ArrayRef<StringRef> words,
                         llvm::function_ref<ParseResult(StringRef word)> parse) {
  while (true) {
    OptionalParseResult isAttributes = parseOptionalAttributes(parser, attributes);
    if (isAttributes.has_value()) {
      if (failed(*isAttributes))
        return failure();
      continue;
    }
    StringRef word;
    if (failed(parser.parseOptionalKeyword(&word, words)))
      return success();
    if (parse(word))
      return failure();
  }
}

ParseResult parseTypedRegion(OpAsmParser &parser, StringRef keyword, Region &region) {
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

SmallVector<Type> countTypes(MLIRContext *context) {
  return SmallVector<Type>(3, IndexType::get(context));
}

ParseResult parseParenthesizedAttr(OpAsmParser &parser, StringRef name, Type type, OperationState &result) {
  Attribute value;
  if (parser.parseLParen() || parser.parseAttribute(value, type) || parser.parseRParen())
    return failure();
  result.addAttribute(name, value);
  return success();
}

ParseResult parseLayoutClause(OpAsmParser &parser, StringRef name, OperationState &result) {
  PipelineLayoutAttr layout;
  if (parser.parseLParen() || parser.parseCustomAttributeWithFallback(layout) || parser.parseRParen())
    return failure();
  result.addAttribute(name, layout);
  return success();
}

void indexLaunchAttributes(OpAsmParser &parser, NamedAttrList &attributes, ArrayRef<StringAttr> names) {
  for (StringAttr name : names)
    if (auto number = dyn_cast_or_null<IntegerAttr>(attributes.get(name));
        number && number.getValue().getBitWidth() <= 64)
      attributes.set(name, parser.getBuilder().getIndexAttr(number.getValue().getSExtValue()));
}

} // namespace tenon::compiler::hal
