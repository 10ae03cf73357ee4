// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reports all results that differ, each with its first differing element and both tensors.
#include "runtime/tools/compare.h"

#include "runtime/tools/tensor_text.h"
#include "runtime/values/element_compare.h"
#include "runtime/values/element_text.h"

#include <cmath>
#include <cstring>

namespace tenon::runtime {

using abi::ElementType;

static double thresholdOf(const Thresholds &thresholds, ElementType element) {
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

bool elementsMatch(const uint8_t *expected, const uint8_t *found, ElementType element, const Thresholds &thresholds) {
  const double distance = elementDistance(found, expected, element);
  return isNear(distance,
                thresholdOf(thresholds, element) * std::fmax(1.0, std::fabs(elementAsDouble(expected, element))));
}

/// Empty when they match, else what differs first and how much differs in all.
static std::string tensorDifference(const HostTensor &expected, const HostTensor &found, const Thresholds &thresholds) {
  const uint32_t size = abi::byteSize(expected.element);
  const size_t count = expected.bytes.size() / size;
  size_t first = count, mismatches = 0;
  for (size_t i = 0; i < count; ++i) {
    if (elementsMatch(&expected.bytes[i * size], &found.bytes[i * size], expected.element, thresholds))
      continue;
    first = mismatches++ == 0 ? i : first;
  }
  if (mismatches == 0)
    return "";
  return concat("element at index ", first, " (", formatElement(&found.bytes[first * size], found.element),
                ") does not match the expected (", formatElement(&expected.bytes[first * size], expected.element),
                "); ", mismatches, " of ", count, " elements differ");
}

static std::string indented(const HostValue &value, size_t maxElements) {
  if (const HostTensor *tensor = std::get_if<HostTensor>(&value))
    return concat("    ", formatTensor(*tensor, maxElements), "\n");
  return concat("    ", typeSpelling(value), "=", formatScalar(*std::get_if<Scalar>(&value)), "\n");
}

/// Empty when they match.
static std::string valueDifference(const HostValue &expected, const HostValue &found, const Thresholds &thresholds) {
  if (typeSpelling(expected) != typeSpelling(found))
    return concat("the result is ", typeSpelling(found), ", expected ", typeSpelling(expected));
  if (const HostTensor *tensor = std::get_if<HostTensor>(&expected))
    return tensorDifference(*tensor, *std::get_if<HostTensor>(&found), thresholds);
  const Scalar &wanted = *std::get_if<Scalar>(&expected), &got = *std::get_if<Scalar>(&found);
  uint8_t wantedBytes[8], gotBytes[8];
  std::memcpy(wantedBytes, &wanted.bits, 8);
  std::memcpy(gotBytes, &got.bits, 8);
  return elementsMatch(wantedBytes, gotBytes, wanted.element, thresholds) ? "" : "the scalars differ";
}

bool compareResults(const std::vector<OptionalValue> &expected, const std::vector<HostValue> &found,
                    const Thresholds &thresholds, size_t maxElements, std::string &report) {
  if (expected.size() != found.size()) {
    report += concat("[FAILED] the function has ", found.size(), found.size() == 1 ? " result, " : " results, ",
                     expected.size(), " expected values were given\n");
    return false;
  }
  bool allMatch = true;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!expected[i])
      continue;
    const std::string difference = valueDifference(*expected[i], found[i], thresholds);
    if (difference.empty())
      continue;
    allMatch = false;
    report += concat("[FAILED] result[", i, "]: ", difference, "\n  expected:\n", indented(*expected[i], maxElements),
                     "  actual:\n", indented(found[i], maxElements));
  }
  if (allMatch)
    report += "[SUCCESS] all function outputs matched their expected values.\n";
  return allMatch;
}

} // namespace tenon::runtime
