// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers: the whole word must parse.
#include "runtime/values/element_text.h"

#include "support/number.h"
#include "support/small_float.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace tenon::runtime {

using abi::ElementType;

namespace {

Status notANumber(std::string_view text, ElementType type) {
  return makeError(StatusCode::InvalidArgument, "'", text, "' is no ", abi::spelling(type));
}
Status doesNotFit(std::string_view text, ElementType type) {
  return makeError(StatusCode::OutOfRange, "'", text, "' does not fit ", abi::spelling(type));
}

Result<uint64_t> parseInteger(std::string_view text, ElementType type) {
  const uint32_t bits = type == ElementType::I1 ? 1 : 8 * abi::byteSize(type);
  if (type == ElementType::I1 && (text == "true" || text == "false"))
    return uint64_t(text == "true");
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+'))
    digits.remove_prefix(1);
  const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (hex)
    digits.remove_prefix(2);
  uint64_t magnitude = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, hex ? 16 : 10);
  if (end != digits.data() + digits.size() || error == std::errc::invalid_argument)
    return notANumber(text, type);
  const uint64_t largest = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  const uint64_t limit = negative ? (type == ElementType::I1 ? 1 : uint64_t(1) << (bits - 1)) : largest;
  if (error == std::errc::result_out_of_range || magnitude > limit)
    return doesNotFit(text, type);
  return negative ? (~magnitude + 1) & largest : magnitude;
}

Result<uint64_t> parseFloatElement(std::string_view text, ElementType type) {
  // f32 by a function of its own: a second rounding would be wrong by one bit now and then.
  std::optional<double> value;
  if (type == ElementType::F32)
    value = parseFloat(text);
  else
    value = parseDouble(text);
  if (!value)
    return notANumber(text, type);
  if (std::isinf(*value) && text.find_first_of("nN") == std::string_view::npos) // not "inf"
    return doesNotFit(text, type);
  if (type == ElementType::F64)
    return std::bit_cast<uint64_t>(*value);
  if (type == ElementType::F32)
    return uint64_t(std::bit_cast<uint32_t>(static_cast<float>(*value)));
  const float narrow = doubleToOddFloat(*value);
  const uint16_t bits = type == ElementType::F16 ? floatToF16(narrow) : floatToBf16(narrow);
  const float back = type == ElementType::F16 ? f16ToFloat(bits) : bf16ToFloat(bits);
  if (std::isinf(back) && !std::isinf(*value))
    return doesNotFit(text, type);
  return uint64_t(bits);
}

template <typename T> T load(const uint8_t *data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

} // namespace

Result<uint64_t> parseElement(std::string_view text, ElementType type) {
  return abi::isFloat(type) ? parseFloatElement(text, type) : parseInteger(text, type);
}

double elementAsDouble(const uint8_t *data, ElementType type) {
  switch (type) {
  case ElementType::I1:
    return *data != 0;
  case ElementType::I8:
    return load<int8_t>(data);
  case ElementType::I16:
    return load<int16_t>(data);
  case ElementType::I32:
    return load<int32_t>(data);
  case ElementType::I64:
  case ElementType::Index:
    return static_cast<double>(load<int64_t>(data));
  case ElementType::F16:
    return f16ToFloat(load<uint16_t>(data));
  case ElementType::BF16:
    return bf16ToFloat(load<uint16_t>(data));
  case ElementType::F32:
    return load<float>(data);
  case ElementType::F64:
    return load<double>(data);
  }
  return 0;
}

static std::string format(const uint8_t *data, ElementType type, int digits) {
  if (type == ElementType::I64 || type == ElementType::Index)
    return std::to_string(load<int64_t>(data));
  const double value = elementAsDouble(data, type);
  if (!abi::isFloat(type))
    return std::to_string(static_cast<int64_t>(value));
  char text[40];
  std::snprintf(text, sizeof(text), "%.*G", digits, value);
  return text;
}

std::string formatElement(const uint8_t *data, ElementType type) {
  return format(data, type, 6);
}

std::string formatElementExactly(const uint8_t *data, ElementType type) {
  return format(data, type, type == ElementType::F64 ? 17 : 9);
}

} // namespace tenon::runtime
