// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether one element is another, or near it: what --expected_output= and check.expect_* ask.
#pragma once

#include "abi/element_type.h"

#include <cstdint>

namespace tenon::runtime {

/// |found - wanted| of one element of either. 0: they are the same, which an infinity is with itself, a NaN with any
/// NaN, -0 with 0, and an i1 with any i1 that is as true. Infinity: nothing is near, as between different integers, a
/// NaN and a number, or an infinity and anything else.
double elementDistance(const uint8_t *found, const uint8_t *wanted, abi::ElementType element);

/// The distance is 0, or at most `tolerance` and finite.
bool isNear(double distance, double tolerance);

} // namespace tenon::runtime
