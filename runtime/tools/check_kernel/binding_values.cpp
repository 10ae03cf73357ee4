// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers are written in a size expression wherever an integer is wanted.
#include "runtime/tools/check_kernel/binding_values.h"

#include "runtime/tools/npy.h"
#include "runtime/tools/tensor_text.h"
#include "runtime/values/element_text.h"
#include "support/align.h"
#include "support/files/file.h"
#include "support/memory.h"
#include "support/number.h"
#include "support/placement.h"
#include "support/random.h"
#include "support/small_float.h"
#include "support/text/text.h"

#include <bit>
#include <cstring>

namespace tenon::runtime {
namespace {

using abi::ElementType;

constexpr double kFloatLow = -1, kFloatHigh = 1;
constexpr int64_t kIntegerLow = -100, kIntegerHigh = 100;
constexpr uint64_t kMaxBytes = uint64_t(1) << 32; // of one binding

/// Takes `word` and a space off the front.
bool takeWord(std::string_view &text, std::string_view word) {
  if (!text.starts_with(word) || text.size() <= word.size() || text[word.size()] != ' ')
    return false;
  text = trimmed(text.substr(word.size()));
  return true;
}

uint64_t floatBits(double value, ElementType element) {
  switch (element) {
  case ElementType::F16:
    return floatToF16(doubleToOddFloat(value));
  case ElementType::BF16:
    return floatToBf16(doubleToOddFloat(value));
  case ElementType::F64:
    return std::bit_cast<uint64_t>(value);
  default:
    return std::bit_cast<uint32_t>(float(value));
  }
}

/// "LOW..HIGH", of numbers (floats) or expressions (integers); HIGH is not among the values.
Status fillRandom(HostTensor &tensor, std::string_view range, const Sizes &sizes, uint64_t seed) {
  const size_t dots = range.find("..");
  const std::string low(trimmed(range.substr(0, dots)));
  const std::string high(dots == std::string_view::npos ? "" : trimmed(range.substr(dots + 2)));
  double floatLow = kFloatLow, floatHigh = kFloatHigh;
  int64_t integerLow = kIntegerLow, integerHigh = kIntegerHigh;
  if (tensor.element == ElementType::I1) {
    integerLow = 0;
    integerHigh = 2;
  }
  const bool isFloat = abi::isFloat(tensor.element);
  if (!range.empty() && isFloat) {
    const std::optional<double> lowest = parseDouble(low), highest = parseDouble(high);
    if (!lowest || !highest || !(*lowest < *highest))
      return makeError(StatusCode::InvalidArgument, "'", range, "' is no range of numbers LOW..HIGH");
    floatLow = *lowest, floatHigh = *highest;
  } else if (!range.empty()) {
    TENON_ASSIGN_OR_RETURN(integerLow, evaluateSize(low, sizes));
    TENON_ASSIGN_OR_RETURN(integerHigh, evaluateSize(high, sizes));
    if (integerLow >= integerHigh)
      return makeError(StatusCode::InvalidArgument, "the range ", integerLow, "..", integerHigh, " is empty");
  }
  SplitMix64 random(seed * SplitMix64::kStep + 1);
  const uint32_t size = abi::byteSize(tensor.element);
  for (size_t at = 0; at < tensor.bytes.size(); at += size) {
    const uint64_t span = uint64_t(integerHigh) - uint64_t(integerLow);
    const uint64_t bits = isFloat ? floatBits(floatLow + random.uniform() * (floatHigh - floatLow), tensor.element)
                                  : uint64_t(integerLow) + random.next() % span;
    std::memcpy(&tensor.bytes[at], &bits, size);
  }
  return okStatus();
}

Status readNpyInto(HostTensor &tensor, const std::string &path) {
  TENON_ASSIGN_OR_RETURN(std::string file, readFile(path));
  size_t offset = 0;
  Result<HostTensor> read = readNpy(file, offset);
  if (!read.ok())
    return read.takeStatus().withContext(concat("'", path, "'"));
  if (read->shape != tensor.shape || abi::byteSize(read->element) != abi::byteSize(tensor.element))
    return makeError(StatusCode::InvalidArgument, "'", path, "' holds ", tensorTypeSpelling(read->shape, read->element),
                     ", the binding is ", tensorTypeSpelling(tensor.shape, tensor.element));
  tensor.bytes = std::move(read->bytes);
  return okStatus();
}

/// A number of `element`: an expression where it is an integer.
Result<uint64_t> parseElementValue(std::string_view text, ElementType element, const Sizes &sizes) {
  Result<uint64_t> literal = parseElement(text, element);
  if (literal.ok() && !text.empty())
    return literal;
  TENON_ASSIGN_OR_RETURN(int64_t value, evaluateSize(text, sizes));
  return parseElement(concat(value), element);
}

/// "i32=n" or "n" with the type that is at hand.
Result<uint64_t> parseTyped(std::string_view text, ElementType &element, const Sizes &sizes) {
  if (const size_t equal = text.find('='); equal != std::string_view::npos) {
    const std::optional<ElementType> type = abi::parseElementType(trimmed(text.substr(0, equal)));
    if (!type)
      return makeError(StatusCode::InvalidArgument, "'", trimmed(text.substr(0, equal)), "' is no element type");
    element = *type;
    text = trimmed(text.substr(equal + 1));
  }
  return parseElementValue(text, element, sizes);
}

Result<std::vector<uint8_t>> parseBytes(std::string_view digits, size_t size) {
  std::vector<uint8_t> out;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    const std::optional<uint8_t> byte = parseNumber<uint8_t>(digits.substr(i, 2), 16);
    if (!byte)
      return makeError(StatusCode::InvalidArgument, "'", digits.substr(i, 2), "' is no byte in hexadecimal");
    out.push_back(*byte);
  }
  if (digits.size() % 2 || out.size() != size)
    return makeError(StatusCode::InvalidArgument, digits.size(), " hexadecimal digits given, the constant has ", size,
                     " bytes");
  return out;
}

/// "(i64=n, f32=2)": the members of a C struct.
Result<std::vector<uint8_t>> parseStruct(std::string_view members, const abi::Constant &constant, const Sizes &sizes) {
  std::vector<uint8_t> out;
  Placement places;
  while (!members.empty()) {
    const size_t comma = std::min(members.find(','), members.size());
    const std::string_view member = trimmed(members.substr(0, comma));
    members.remove_prefix(std::min(comma + 1, members.size()));
    if (member.find('=') == std::string_view::npos)
      return makeError(StatusCode::InvalidArgument, "the member '", member, "' has no type, as in i32=", member);
    ElementType element = ElementType::I32;
    TENON_ASSIGN_OR_RETURN(uint64_t bits, parseTyped(member, element, sizes));
    const size_t size = abi::byteSize(element);
    const uint64_t offset = places.place(size, size);
    out.resize(places.end());
    std::memcpy(out.data() + offset, &bits, size);
  }
  out.resize(alignUp(places.end(), places.alignment()));
  if (out.size() > constant.size || constant.size - out.size() >= constant.alignment)
    return makeError(StatusCode::InvalidArgument, "its members take ", out.size(), " bytes, the constant has ",
                     constant.size);
  out.resize(constant.size);
  return out;
}

} // namespace

Result<BindingSpec> parseBindingSpec(std::string_view text) {
  BindingSpec out;
  text = trimmed(text);
  out.inOut = takeWord(text, "inout");
  out.partial = takeWord(text, "partial");
  const size_t equal = text.find('=');
  if (equal != std::string_view::npos) {
    out.contents = trimmed(text.substr(equal + 1));
    text = trimmed(text.substr(0, equal));
    if (out.contents.empty())
      return makeError(StatusCode::InvalidArgument, "there is nothing behind '='");
  }
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] != 'x' || depth != 0)
      continue;
    out.extents.emplace_back(trimmed(text.substr(start, i - start)));
    start = i + 1;
  }
  const std::optional<ElementType> element = abi::parseElementType(text.substr(start));
  if (!element)
    return makeError(StatusCode::InvalidArgument, "expected a shape and an element type, as in nxf32 or (2*n)x4xi8; '",
                     text.substr(start), "' is no element type");
  out.element = *element;
  return out;
}

Result<CaseBinding> makeBinding(std::string_view text, bool readOnly, const Sizes &sizes, uint64_t seed) {
  TENON_ASSIGN_OR_RETURN(BindingSpec spec, parseBindingSpec(text));
  if (readOnly && (spec.inOut || spec.partial))
    return makeError(StatusCode::InvalidArgument, "the layout declares it read-only: it is neither inout nor partial");
  CaseBinding out;
  out.role = readOnly       ? BindingRole::Input
             : spec.inOut   ? BindingRole::InOut
             : spec.partial ? BindingRole::PartialOutput
                            : BindingRole::Output;
  out.value.element = spec.element;
  for (const std::string &extent : spec.extents) {
    TENON_ASSIGN_OR_RETURN(int64_t value, evaluateSize(extent, sizes));
    out.value.shape.push_back(value);
  }
  TENON_ASSIGN_OR_RETURN(uint64_t bytes, denseBytes(out.value.shape, spec.element));
  if (bytes > kMaxBytes)
    return makeError(StatusCode::OutOfRange, bytes, " bytes, at most ", kMaxBytes, " are possible here");
  TENON_RETURN_IF_ERROR(resizeChecked(out.value.bytes, bytes, tensorTypeSpelling(out.value.shape, out.value.element)));
  if (spec.contents.starts_with('@')) {
    TENON_RETURN_IF_ERROR(readNpyInto(out.value, spec.contents.substr(1)));
  } else if (spec.contents.empty() || spec.contents.find("..") != std::string::npos) {
    TENON_RETURN_IF_ERROR(fillRandom(out.value, spec.contents, sizes, seed));
  } else {
    const TensorType type = {spec.element, out.value.shape};
    Result<HostTensor> literal = parseTensorElements(type, spec.contents);
    if (!literal.ok()) {
      Result<int64_t> value = evaluateSize(spec.contents, sizes);
      if (!value.ok())
        return literal.takeStatus();
      literal = parseTensorElements(type, concat(*value));
    }
    TENON_ASSIGN_OR_RETURN(out.value, std::move(literal));
  }
  return out;
}

Result<std::vector<uint8_t>> parseConstant(std::string_view text, const abi::Constant &constant, const Sizes &sizes) {
  text = trimmed(text);
  if (text.starts_with("bytes:"))
    return parseBytes(trimmed(text.substr(6)), constant.size);
  ElementType element = constant.element;
  switch (constant.kind) {
  case abi::ConstantKind::Struct:
    if (!text.starts_with('(') || !text.ends_with(')'))
      return makeError(StatusCode::InvalidArgument, "a struct is its members, as in (i64=n, f32=2), or bytes:0011..., ",
                       constant.size, " of them");
    return parseStruct(text.substr(1, text.size() - 2), constant, sizes);
  case abi::ConstantKind::TensorMap:
    return makeError(StatusCode::InvalidArgument,
                     "a tensor map that is not described is passed as bytes:0011..., 128 of them");
  case abi::ConstantKind::Word: // untyped: a number with a point is a float
    element = text.find_first_of(".") != std::string_view::npos ? ElementType::F32 : ElementType::I32;
    break;
  case abi::ConstantKind::Scalar:
    break;
  }
  TENON_ASSIGN_OR_RETURN(uint64_t bits, parseTyped(text, element, sizes));
  const bool isWord = constant.kind == abi::ConstantKind::Word;
  if (isWord ? abi::byteSize(element) != constant.size : element != constant.element)
    return makeError(StatusCode::InvalidArgument, "it is ", abi::spelling(element), ", the layout declares ",
                     isWord ? std::string_view("a 32-bit word") : abi::spelling(constant.element));
  std::vector<uint8_t> out(constant.size);
  std::memcpy(out.data(), &bits, out.size());
  return out;
}

} // namespace tenon::runtime
