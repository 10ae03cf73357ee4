// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// !hal.tensor_map<binding = 0, 64x64xf16, swizzle = B128>: the declaration of a tensor map (abi/tensor_map.h), read and
// written. Whether the driver can encode it is checked with the layout (K-22).
#include "abi/tensor_map.h"
#include "compiler/dialect/hal/HalAttrs.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tenon::compiler::hal {
namespace {

constexpr uint32_t kDefaultAlignment = 64; // of CUtensorMap in CUDA 12's headers; CUDA 13's has 128

/// `B128`: one of the enumerators of Enum up to `last`.
template <typename Enum> ParseResult parseEnumerator(AsmParser &parser, Enum last, uint32_t &out) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  for (out = 0; out <= uint32_t(last); ++out)
    if (word == StringRef(abi::spelling(Enum(out))))
      return success();
  InFlightDiagnostic error = parser.emitError(loc) << "'" << word << "' is unknown, one of ";
  for (uint32_t i = 0; i <= uint32_t(last); ++i)
    error << (i ? ", " : "") << StringRef(abi::spelling(Enum(i)));
  return error << " is wanted";
}

struct Body {
  uint32_t binding = 0, interleave = 0, swizzle = 0, promotion = 0, fill = 0, alignment = kDefaultAlignment;
  SmallVector<int64_t> box;
  SmallVector<uint32_t> elementStrides;
  Type element;
  bool isOptional = false;

  ParseResult parseEntry(AsmParser &parser) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef word;
    if (succeeded(parser.parseOptionalKeyword("optional"))) {
      isOptional = true;
      return success();
    }
    if (failed(parser.parseOptionalKeyword(&word))) {
      if (element)
        return parser.emitError(loc) << "a tensor map has one box";
      return failure(parser.parseDimensionList(box, /*allowDynamic=*/false) || parser.parseType(element));
    }
    if (parser.parseEqual())
      return failure();
    if (word == "binding")
      return parser.parseInteger(binding);
    if (word == "alignment")
      return parser.parseInteger(alignment);
    if (word == "element_strides")
      return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                            [&] { return parser.parseInteger(elementStrides.emplace_back()); });
    if (word == "interleave")
      return parseEnumerator(parser, abi::TensorMapInterleave::B32, interleave);
    if (word == "swizzle")
      return parseEnumerator(parser, abi::TensorMapSwizzle::B128, swizzle);
    if (word == "promotion")
      return parseEnumerator(parser, abi::TensorMapPromotion::L2B256, promotion);
    if (word == "fill")
      return parseEnumerator(parser, abi::TensorMapFill::Nans, fill);
    return parser.emitError(loc) << "'" << word << "' is unknown, binding, a box (64x64xf16), element_strides, "
                                 << "interleave, swizzle, promotion, fill, alignment or optional is wanted";
  }
};

} // namespace

Type TensorMapType::getMemoryElement() const {
  return getElement().isTF32() ? Float32Type::get(getContext()) : getElement();
}

Type TensorMapType::parse(AsmParser &parser) {
  Body body;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&] { return body.parseEntry(parser); }))
    return {};
  if (!body.element) {
    parser.emitError(loc) << "a tensor map has a box and an element type, as in 64x64xf16";
    return {};
  }
  return get(parser.getContext(), body.binding, body.box, body.element, body.elementStrides, body.interleave,
             body.swizzle, body.promotion, body.fill, body.alignment, body.isOptional);
}

void TensorMapType::print(AsmPrinter &printer) const {
  printer << "<binding = " << getBinding() << ", ";
  for (int64_t extent : getBox())
    printer << extent << 'x';
  printer << getElement();
  if (!getElementStrides().empty()) {
    printer << ", element_strides = [";
    llvm::interleaveComma(getElementStrides(), printer);
    printer << ']';
  }
  auto put = [&](StringRef name, uint32_t value, std::string_view word) {
    if (value)
      printer << ", " << name << " = " << StringRef(word);
  };
  put("interleave", getInterleave(), abi::spelling(abi::TensorMapInterleave(getInterleave())));
  put("swizzle", getSwizzle(), abi::spelling(abi::TensorMapSwizzle(getSwizzle())));
  put("promotion", getPromotion(), abi::spelling(abi::TensorMapPromotion(getPromotion())));
  put("fill", getFill(), abi::spelling(abi::TensorMapFill(getFill())));
  if (getAlignment() != kDefaultAlignment)
    printer << ", alignment = " << getAlignment();
  if (getIsOptional())
    printer << ", optional";
  printer << '>';
}

} // namespace tenon::compiler::hal
