// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `--expected_output=`: what was found against what was expected. Integers match exactly. Floats match when
// |found - expected| <= threshold * max(1, |expected|): absolute near zero, relative for large values. Equal infinities
// match, and a NaN matches a NaN.
#pragma once

#include "runtime/tools/value_spec.h"

#include <string>
#include <vector>

namespace tenon::runtime {

/// By element type, as 8, 11, 24 and 53 bits of precision over a few operations leave it.
struct Thresholds {
  double bf16 = 1e-2;
  double f16 = 1e-3;
  double f32 = 1e-4;
  double f64 = 1e-4;
};

/// One element, at `expected` and `found`.
bool elementsMatch(const uint8_t *expected, const uint8_t *found, abi::ElementType element,
                   const Thresholds &thresholds);

/// Compares all results. @return true when everything matches; `report` gets a "[FAILED] result[0]: ..." paragraph for
/// each that does not, or one "[SUCCESS] ..." line.
bool compareResults(const std::vector<OptionalValue> &expected, const std::vector<HostValue> &found,
                    const Thresholds &thresholds, size_t maxElements, std::string &report);

} // namespace tenon::runtime
