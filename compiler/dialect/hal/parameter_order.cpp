// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and writing the order of a kernel's parameters: a word for each, a struct with its members behind it.
//
//   binding 0 | constant 0 | hidden | struct<SIZE, alignment = N>(MEMBER at OFFSET, ..) | padding<SIZE, alignment = N>
#include "compiler/dialect/hal/parameter_order.h"

#include "abi/arch_table.h"
#include "compiler/dialect/shared/assembly.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tenon::compiler::hal {

/// A number of at most `most`; `what` names it: "binding 3 of a layout".
static ParseResult parseNumber(AsmParser &parser, StringRef what, int64_t least, int64_t most, uint32_t &number) {
  int64_t value;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseInteger(value))
    return failure();
  if (value < least || value > most)
    return parser.emitError(loc) << what << " is " << value << ", a number from " << least << " to " << most
                                 << " is wanted";
  number = uint32_t(value);
  return success();
}

namespace {
struct Parts {
  abi::ParameterKind kind = abi::ParameterKind::Binding;
  uint32_t index = 0, offset = 0, size = 0, alignment = 0;
  SmallVector<ParameterAttr> members;

  ParameterAttr get(AsmParser &parser) const {
    return ParameterAttr::get(parser.getContext(), kind, index, offset, size, alignment, members);
  }
};
} // namespace

// A parameter has at least a byte, so there are no more of them.
static constexpr int64_t kMostParameters = abi::kMaxParameterBytes;

/// `binding 0`, `constant 0` or `hidden`, whose word was read.
static ParseResult parseKind(AsmParser &parser, StringRef word, Parts &parts) {
  if (word == "hidden") {
    parts.kind = abi::ParameterKind::Hidden;
    return success();
  }
  parts.kind = word == "binding" ? abi::ParameterKind::Binding : abi::ParameterKind::Constant;
  return parseNumber(parser, word, 0, kMostParameters, parts.index);
}

/// `<24, alignment = 8>`
static ParseResult parseExtent(AsmParser &parser, Parts &parts) {
  SMLoc alignmentLoc;
  if (parser.parseLess() || parseNumber(parser, "size in bytes", 1, abi::kMaxParameterBytes, parts.size) ||
      parser.parseComma() || parser.parseKeyword("alignment") || parser.parseEqual())
    return failure();
  alignmentLoc = parser.getCurrentLocation();
  if (parseNumber(parser, "alignment in bytes", 1, abi::kMaxParameterBytes, parts.alignment))
    return failure();
  if (!llvm::isPowerOf2_32(parts.alignment))
    return parser.emitError(alignmentLoc) << "alignment is " << parts.alignment << ", a power of two is wanted";
  return parser.parseGreater();
}

/// `(binding 1 at 0, constant 2 at 8)`
static ParseResult parseMembers(AsmParser &parser, AsmParser::Delimiter delimiter, Parts &parts) {
  return parser.parseCommaSeparatedList(delimiter, [&]() -> ParseResult {
    Parts member;
    StringRef word;
    if (parseKeywordOf(parser, word, {"binding", "constant", "hidden"}) || parseKind(parser, word, member) ||
        parser.parseKeyword("at") || parseNumber(parser, "offset in bytes", 0, abi::kMaxParameterBytes, member.offset))
      return failure();
    parts.members.push_back(member.get(parser));
    return success();
  });
}

static FailureOr<ParameterAttr> parseParameter(AsmParser &parser) {
  Parts parts;
  StringRef word;
  if (parseKeywordOf(parser, word, {"binding", "constant", "hidden", "struct", "padding"}))
    return failure();
  if (word == "struct" || word == "padding") {
    parts.kind = abi::ParameterKind::Struct;
    if (parseExtent(parser, parts) || (word == "struct" && parseMembers(parser, AsmParser::Delimiter::Paren, parts)))
      return failure();
    return parts.get(parser);
  }
  if (parseKind(parser, word, parts))
    return failure();
  // Pointers within a struct whose bytes the dispatch passes: `constant 0(binding 1 at 8)`.
  if (word == "constant" && parseMembers(parser, AsmParser::Delimiter::OptionalParen, parts))
    return failure();
  return parts.get(parser);
}

ParseResult parseParameters(AsmParser &parser, SmallVectorImpl<ParameterAttr> &parameters) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    FailureOr<ParameterAttr> parameter = parseParameter(parser);
    if (failed(parameter))
      return failure();
    parameters.push_back(*parameter);
    return success();
  });
}

static void printKind(AsmPrinter &printer, ParameterAttr parameter) {
  switch (parameter.getKind()) {
  case abi::ParameterKind::Binding:
    printer << "binding " << parameter.getIndex();
    break;
  case abi::ParameterKind::Constant:
    printer << "constant " << parameter.getIndex();
    break;
  case abi::ParameterKind::Hidden:
    printer << "hidden";
    break;
  case abi::ParameterKind::Struct:
    printer << (parameter.getMembers().empty() ? "padding<" : "struct<") << parameter.getSize()
            << ", alignment = " << parameter.getAlignment() << '>';
    break;
  }
}

void printParameters(AsmPrinter &printer, ArrayRef<ParameterAttr> parameters) {
  llvm::interleaveComma(parameters, printer, [&](ParameterAttr parameter) {
    printKind(printer, parameter);
    if (parameter.getMembers().empty())
      return;
    printer << '(';
    llvm::interleaveComma(parameter.getMembers(), printer, [&](ParameterAttr member) {
      printKind(printer, member);
      printer << " at " << member.getOffset();
    });
    printer << ')';
  });
}

Attribute ParameterAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<ParameterAttr> parameter = parseParameter(parser);
  if (failed(parameter) || parser.parseGreater())
    return {};
  return *parameter;
}

void ParameterAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printParameters(printer, *this);
  printer << '>';
}

} // namespace tenon::compiler::hal
