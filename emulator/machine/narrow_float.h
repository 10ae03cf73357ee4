// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of 8 bits. e4m3 has 4 bits of exponent, 3 of mantissa, no infinity and one NaN (0x7f); the largest number is
// 448. e5m2 has 5 and 2 bits and is f16 cut short. Converting to either saturates: a larger value becomes the largest
// number.
#pragma once

#include <cstdint>

namespace tenon::emulator {

uint8_t toE4M3(double value);
uint8_t toE5M2(double value);
float fromE4M3(uint8_t bits);
float fromE5M2(uint8_t bits);

} // namespace tenon::emulator
