// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and writing layouts and bindings: a kernel's parameters as its user declares them. Files of several eras are
// about, and all of them end as one attribute:
//
//   #hal.pipeline.layout<push_constants = 1, sets = [<0, bindings = [<0, storage_buffer, ReadOnly>]>]>    older
//   #hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>]>     printed
#include "compiler/dialect/hal/HalAttrs.h"
#include "compiler/dialect/hal/parameter_order.h"
#include "compiler/dialect/shared/assembly.h"

#include "abi/arch_table.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tenon::compiler::hal {

//===-- Bindings -------------------------------------------------------------------------------------------------===//

// `ReadOnly`, `"ReadOnly|Indirect"`, `None`. `wanted` ends the error about any other word.
static ParseResult parseFlags(AsmParser &parser, bool &readOnly, bool &indirect, StringRef wanted) {
  SMLoc loc = parser.getCurrentLocation();
  std::string text;
  if (parser.parseKeywordOrString(&text))
    return failure();
  SmallVector<StringRef> words;
  StringRef(text).split(words, '|');
  for (StringRef word : words) {
    word = word.trim();
    if (word == "ReadOnly")
      readOnly = true;
    else if (word == "Indirect")
      indirect = true;
    else if (word != "None")
      return parser.emitError(loc) << "flag '" << word << "' is unknown, " << wanted;
  }
  return success();
}

static void printFlags(AsmPrinter &printer, bool readOnly, bool indirect) {
  if (readOnly && indirect)
    printer << "\"ReadOnly|Indirect\"";
  else
    printer << (readOnly ? "ReadOnly" : "Indirect");
}

// cuMemAlloc promises 256 bytes; more can be promised by a larger suballocation, up to a page of 2 MiB.
static constexpr int64_t kMaxAlignment = 2 << 20;

// `= 16`, behind `alignment`. A type behind the number changes nothing.
static ParseResult parseAlignment(AsmParser &parser, uint32_t &alignment) {
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalEqual()))
    return parser.emitError(loc) << "expected '=' behind 'alignment', as in 'alignment = 16'";
  loc = parser.getCurrentLocation();
  int64_t value;
  Type type;
  if (parser.parseInteger(value) || (succeeded(parser.parseOptionalColon()) && parser.parseType(type)))
    return failure();
  if (value <= 0 || value > kMaxAlignment || !llvm::isPowerOf2_64(value))
    return parser.emitError(loc) << "binding alignment is " << value << ", a power of two up to " << kMaxAlignment
                                 << " is wanted";
  alignment = uint32_t(value);
  return success();
}

// `storage_buffer, ReadOnly, alignment = 16`, without the brackets.
static FailureOr<PipelineBindingAttr> parseBindingBody(AsmParser &parser) {
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  if (word != "storage_buffer" && word != "uniform_buffer") {
    parser.emitError(loc) << "binding type '" << word << "' is unknown, 'storage_buffer' or 'uniform_buffer' is wanted";
    return failure();
  }
  auto kind = word == "storage_buffer" ? abi::BindingKind::StorageBuffer : abi::BindingKind::UniformBuffer;
  bool readOnly = false, indirect = false;
  uint32_t alignment = 0;
  while (succeeded(parser.parseOptionalComma())) {
    bool isAlignment = succeeded(parser.parseOptionalKeyword("alignment"));
    if (isAlignment ? parseAlignment(parser, alignment)
                    : parseFlags(parser, readOnly, indirect, "ReadOnly, Indirect or 'alignment = 16' is wanted"))
      return failure();
  }
  return PipelineBindingAttr::get(parser.getContext(), kind, readOnly, indirect, alignment);
}

static void printBindingBody(AsmPrinter &printer, PipelineBindingAttr binding) {
  printer << (binding.getKind() == abi::BindingKind::StorageBuffer ? "storage_buffer" : "uniform_buffer");
  if (binding.getReadOnly() || binding.getIndirect()) {
    printer << ", ";
    printFlags(printer, binding.getReadOnly(), binding.getIndirect());
  }
  if (binding.getAlignment() != 0)
    printer << ", alignment = " << binding.getAlignment();
}

Attribute PipelineBindingAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<PipelineBindingAttr> binding = parseBindingBody(parser);
  if (failed(binding) || parser.parseGreater())
    return {};
  return *binding;
}

void PipelineBindingAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printBindingBody(printer, *this);
  printer << '>';
}

// A small number that must not be negative: an ordinal.
static ParseResult parseOrdinal(AsmParser &parser, uint32_t &ordinal) {
  int64_t value;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseInteger(value))
    return failure();
  if (value < 0 || value > std::numeric_limits<int32_t>::max())
    return parser.emitError(loc) << "ordinal is " << value << ", a number from 0 is wanted";
  ordinal = uint32_t(value);
  return success();
}

Attribute DescriptorSetBindingAttr::parse(AsmParser &parser, Type) {
  uint32_t ordinal;
  if (parser.parseLess() || parseOrdinal(parser, ordinal) || parser.parseComma())
    return {};
  FailureOr<PipelineBindingAttr> binding = parseBindingBody(parser);
  if (failed(binding) || parser.parseGreater())
    return {};
  return get(parser.getContext(), ordinal, *binding);
}

void DescriptorSetBindingAttr::print(AsmPrinter &printer) const {
  printer << '<' << getOrdinal() << ", ";
  printBindingBody(printer, getBinding());
  printer << '>';
}

//===-- Layouts --------------------------------------------------------------------------------------------------===//

// `flags = Indirect` of a layout or a set.
static ParseResult parseLayoutFlags(AsmParser &parser, bool &indirect) {
  bool readOnly = false;
  SMLoc loc = parser.getCurrentLocation();
  if (parseFlags(parser, readOnly, indirect, "Indirect is wanted"))
    return failure();
  if (readOnly)
    return parser.emitError(loc) << "flag 'ReadOnly' belongs to a binding, a layout takes 'Indirect' only";
  return success();
}

template <typename BindingAttr>
static ParseResult parseBindings(AsmParser &parser, SmallVectorImpl<BindingAttr> &bindings) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&] { return parser.parseCustomAttributeWithFallback(bindings.emplace_back()); });
}

Attribute DescriptorSetLayoutAttr::parse(AsmParser &parser, Type) {
  uint32_t ordinal;
  SmallVector<DescriptorSetBindingAttr> bindings;
  bool indirect = false;
  if (parser.parseLess() || parseOrdinal(parser, ordinal))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef word;
    if (parseKeywordOf(parser, word, {"bindings", "flags"}) || parser.parseEqual() ||
        (word == "bindings" ? parseBindings(parser, bindings) : parseLayoutFlags(parser, indirect)))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), ordinal, bindings, indirect);
}

void DescriptorSetLayoutAttr::print(AsmPrinter &printer) const {
  printer << '<' << getOrdinal() << ", bindings = [";
  llvm::interleaveComma(getBindings(), printer);
  printer << ']' << (getIndirect() ? ", flags = Indirect>" : ">");
}

// The bindings of `sets` in the order of (set, binding). Sets and the bindings of each count from 0 without a gap: what
// a gap would mean for a kernel's parameters is not defined.
static ParseResult flattenSets(AsmParser &parser, SMLoc loc, SmallVector<DescriptorSetLayoutAttr> sets,
                               SmallVectorImpl<PipelineBindingAttr> &bindings, bool &indirect) {
  llvm::sort(sets, [](auto a, auto b) { return a.getOrdinal() < b.getOrdinal(); });
  for (auto [setIndex, set] : llvm::enumerate(sets)) {
    if (set.getOrdinal() != setIndex)
      return parser.emitError(loc) << "found descriptor set " << set.getOrdinal() << ", set " << setIndex
                                   << " is wanted: number the sets from 0, each once";
    SmallVector<DescriptorSetBindingAttr> ofSet(set.getBindings());
    llvm::sort(ofSet, [](auto a, auto b) { return a.getOrdinal() < b.getOrdinal(); });
    for (auto [index, binding] : llvm::enumerate(ofSet)) {
      if (binding.getOrdinal() != index)
        return parser.emitError(loc) << "found binding " << binding.getOrdinal() << " in set " << setIndex
                                     << ", binding " << index
                                     << " is wanted: number the bindings of a set from 0, each once";
      bindings.push_back(binding.getBinding());
    }
    indirect |= set.getIndirect();
  }
  return success();
}

static constexpr int64_t kMaxWords = abi::kMaxParameterBytes / 4; // K-5

// `3` (words) or `[i32, i64, f32]`.
static ParseResult parseConstants(AsmParser &parser, uint32_t &count, SmallVectorImpl<Type> &types) {
  int64_t number;
  SMLoc countLoc = parser.getCurrentLocation();
  OptionalParseResult isInteger = parser.parseOptionalInteger(number);
  if (isInteger.has_value()) {
    if (failed(*isInteger))
      return failure();
    if (number < 0 || number > kMaxWords)
      return parser.emitError(countLoc) << "layout has " << number << " constants, 0 to " << kMaxWords
                                        << " are wanted: a kernel takes at most " << abi::kMaxParameterBytes
                                        << " bytes of parameters";
    count = uint32_t(number);
    return success();
  }
  auto parseOne = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    Type &type = types.emplace_back();
    if (parser.parseType(type))
      return failure();
    auto isScalar = [](Type type) {
      return type.isIndex() || type.isSignlessInteger(1) || type.isSignlessInteger(8) || type.isSignlessInteger(16) ||
             type.isSignlessInteger(32) || type.isSignlessInteger(64) ||
             isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
    };
    auto tuple = dyn_cast<TupleType>(type);
    const bool known = tuple ? tuple.size() != 0 && llvm::all_of(tuple.getTypes(), isScalar)
                             : isa<TensorMapType>(type) || isScalar(type);
    if (!known)
      return parser.emitError(loc)
             << "constant type is " << type
             << ", one of i1, i8, i16, i32, i64, f16, bf16, f32, f64, index is wanted, a tuple of "
                "them (a struct by value), or !hal.tensor_map";
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  count = types.size();
  return success();
}

namespace {
// What the body of #hal.pipeline.layout may hold, of either era.
struct LayoutBody {
  uint32_t constantCount = 0;
  SmallVector<Type> constantTypes;
  SmallVector<PipelineBindingAttr> bindings;
  SmallVector<DescriptorSetLayoutAttr> sets;
  SmallVector<ParameterAttr> parameters;
  bool indirect = false;

  ParseResult parseEntry(AsmParser &parser) {
    StringRef word;
    if (parseKeywordOf(parser, word, {"constants", "push_constants", "bindings", "sets", "parameters", "flags"}) ||
        parser.parseEqual())
      return failure();
    if (word == "constants" || word == "push_constants")
      return parseConstants(parser, constantCount, constantTypes);
    if (word == "bindings")
      return parseBindings(parser, bindings);
    if (word == "sets")
      return parseBindings(parser, sets);
    if (word == "parameters")
      return parseParameters(parser, parameters);
    return parseLayoutFlags(parser, indirect);
  }
};
} // namespace

Attribute PipelineLayoutAttr::parse(AsmParser &parser, Type) {
  LayoutBody body;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&] { return body.parseEntry(parser); }))
    return {};
  if (!body.sets.empty() && !body.bindings.empty()) {
    parser.emitError(loc) << "layout has both 'bindings' and 'sets': keep 'bindings'";
    return {};
  }
  if (flattenSets(parser, loc, body.sets, body.bindings, body.indirect))
    return {};
  return get(parser.getContext(), body.constantCount, body.constantTypes, body.bindings, body.indirect,
             body.parameters);
}

void PipelineLayoutAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (!getConstantTypes().empty()) {
    printer << "constants = [";
    llvm::interleaveComma(getConstantTypes(), printer);
    printer << "], ";
  } else if (getConstantCount() != 0) {
    printer << "constants = " << getConstantCount() << ", ";
  }
  printer << "bindings = [";
  llvm::interleaveComma(getBindings(), printer);
  printer << ']';
  if (!getParameters().empty()) {
    printer << ", parameters = [";
    printParameters(printer, getParameters());
    printer << ']';
  }
  printer << (getIndirect() ? ", flags = Indirect>" : ">");
}

Attribute InterfaceBindingAttr::parse(AsmParser &parser, Type) {
  uint32_t set, binding;
  if (parser.parseLess() || parseOrdinal(parser, set) || parser.parseComma() || parseOrdinal(parser, binding) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), set, binding);
}

void InterfaceBindingAttr::print(AsmPrinter &printer) const {
  printer << '<' << getSet() << ", " << getBinding() << '>';
}

} // namespace tenon::compiler::hal
