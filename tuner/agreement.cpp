// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tuner/agreement.h"

#include "runtime/tools/compare.h"
#include "runtime/values/element_compare.h"
#include "runtime/values/element_text.h"
#include "support/random.h"
#include "support/small_float.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace tenon::tuner {
namespace {

using abi::ElementType;
using runtime::HostTensor;

template <typename Bits> void put(uint8_t *to, Bits bits) {
  std::memcpy(to, &bits, sizeof bits);
}

void putRandom(uint8_t *to, ElementType element, SplitMix64 &random) {
  const double number = 2 * random.uniform() - 1;
  switch (element) {
  case ElementType::F16:
    return put(to, floatToF16(float(number)));
  case ElementType::BF16:
    return put(to, floatToBf16(float(number)));
  case ElementType::F32:
    return put(to, float(number));
  case ElementType::F64:
    return put(to, number);
  case ElementType::I8: // as e4m3 0.5 to 1, as e5m2 1/8 to 1/2, with either sign
    return put(to, uint8_t((random.next() & 0x80) | (0x30 + random.next() % 9)));
  case ElementType::I1:
    return put(to, uint8_t(random.next() & 1));
  case ElementType::I16:
  case ElementType::I32:
  case ElementType::I64:
  case ElementType::Index:
    return; // 0
  }
}

runtime::Scalar scalarOf(ElementType element, int64_t size) {
  switch (element) {
  case ElementType::I64:
  case ElementType::Index:
    return {element, size};
  case ElementType::F32: {
    uint32_t bits = 0;
    const float one = 1;
    std::memcpy(&bits, &one, sizeof bits);
    return {element, bits};
  }
  case ElementType::F64: {
    int64_t bits = 0;
    const double one = 1;
    std::memcpy(&bits, &one, sizeof bits);
    return {element, bits};
  }
  case ElementType::F16:
    return {element, floatToF16(1)};
  case ElementType::BF16:
    return {element, floatToBf16(1)};
  case ElementType::I1:
  case ElementType::I8:
  case ElementType::I16:
  case ElementType::I32:
    break;
  }
  return {element, 1};
}

double boundOf(ElementType element) {
  const runtime::Thresholds thresholds;
  switch (element) {
  case ElementType::BF16:
    return thresholds.bf16;
  case ElementType::F16:
    return thresholds.f16;
  case ElementType::F32:
    return thresholds.f32;
  case ElementType::F64:
    return thresholds.f64;
  case ElementType::I1:
  case ElementType::I8:
  case ElementType::I16:
  case ElementType::I32:
  case ElementType::I64:
  case ElementType::Index:
    break;
  }
  return 0;
}

} // namespace

std::vector<runtime::HostValue> makeInputs(const abi::fb::Function &function, int64_t size) {
  std::vector<runtime::HostValue> inputs;
  if (!function.inputs())
    return inputs;
  uint64_t seed = 0;
  for (const abi::fb::ValueType *type : *function.inputs()) {
    const auto element = ElementType(type->element());
    SplitMix64 random(++seed);
    if (type->kind() == abi::fb::ValueKind::Scalar) {
      inputs.emplace_back(scalarOf(element, size));
      continue;
    }
    HostTensor tensor{element, {}, {}};
    uint64_t count = 1;
    if (type->shape())
      for (int64_t extent : *type->shape()) {
        tensor.shape.push_back(extent < 0 ? size : extent);
        count *= uint64_t(tensor.shape.back());
      }
    const uint32_t bytes = abi::byteSize(element);
    tensor.bytes.resize(count * bytes);
    for (uint64_t i = 0; i < count; ++i)
      putRandom(&tensor.bytes[i * bytes], element, random);
    inputs.emplace_back(std::move(tensor));
  }
  return inputs;
}

HostTensor poisoned(const runtime::Tensor &tensor) {
  HostTensor poison{tensor.element, tensor.shape, {}};
  uint64_t bytes = abi::byteSize(tensor.element);
  for (int64_t extent : tensor.shape)
    bytes *= uint64_t(extent);
  poison.bytes.assign(bytes, 0xff); // of floats a NaN
  return poison;
}

std::string disagreement(const HostTensor &expected, const HostTensor &found) {
  if (expected.element != found.element || expected.shape != found.shape)
    return concat("the result is ", runtime::tensorTypeSpelling(found.shape, found.element), ", expected ",
                  runtime::tensorTypeSpelling(expected.shape, expected.element));
  if (expected.bytes == found.bytes)
    return "";
  const uint32_t size = abi::byteSize(expected.element);
  const size_t count = expected.bytes.size() / size;
  double largest = 0;
  for (size_t i = 0; i < count; ++i)
    if (const double value = std::fabs(runtime::elementAsDouble(&expected.bytes[i * size], expected.element));
        std::isfinite(value))
      largest = std::fmax(largest, value);
  const double bound = boundOf(expected.element) * largest;
  size_t differing = 0, first = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t *wanted = &expected.bytes[i * size], *is = &found.bytes[i * size];
    if (runtime::isNear(runtime::elementDistance(is, wanted, expected.element), bound))
      continue;
    first = differing++ == 0 ? i : first;
  }
  if (differing == 0)
    return "";
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", bound);
  return concat(differing, " of ", count, " elements differ by more than ", text, ", first that of index ", first, ": ",
                runtime::formatElement(&found.bytes[first * size], found.element), ", expected ",
                runtime::formatElement(&expected.bytes[first * size], expected.element));
}

} // namespace tenon::tuner
