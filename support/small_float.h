// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating-point formats of 16 and 8 bits to and from float, by their bits: the same on every machine, whatever its
// instructions and its rounding mode.
//
//            sign exponent mantissa  largest  infinity, NaN
//   f16       1      5       10      65504    as IEEE 754 binary16
//   bf16      1      8        7      3.4e38   the upper half of a float
//   e4m3      1      4        3        448    no infinity, one NaN (0x7f with either sign)
//   e5m2      1      5        2      57344    the upper half of an f16
//
// Widening is exact. Narrowing rounds to nearest, ties to even. To 16 bits, what is too large becomes infinity and a
// NaN stays one, its sign too; to 8 bits, what is too large becomes the largest number, and a NaN 0x7f.
#pragma once

#include <cstdint>

namespace tenon {

float f16ToFloat(uint16_t bits);
float bf16ToFloat(uint16_t bits);
float e4m3ToFloat(uint8_t bits);
float e5m2ToFloat(uint8_t bits);

uint16_t floatToF16(float value);
uint16_t floatToBf16(float value);
uint8_t floatToE4m3(float value);
uint8_t floatToE5m2(float value);

/// The float next to `value` towards zero, its last bit set where something was cut off: rounded to fewer bits, it
/// becomes what `value` would. Rounding to nearest twice would not.
float doubleToOddFloat(double value);

} // namespace tenon
