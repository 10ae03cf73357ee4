// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f16 (IEEE binary16) and bf16 to and from f32, rounding to nearest, ties to even; NaN stays NaN, too large becomes
// infinity.
#pragma once

#include <cstdint>

namespace tenon::runtime {

float f16ToFloat(uint16_t bits);
float bf16ToFloat(uint16_t bits);
uint16_t floatToF16(float value);
uint16_t floatToBf16(float value);

} // namespace tenon::runtime
