// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions to and from fewer bits than 16: pairs of 8-bit floating-point numbers (cvt.rn.satfinite.e4m3x2) and
// packed integers (cvt.pack.sat).
//
// e4m3 has 4 bits of exponent, 3 of mantissa, no infinity and one NaN (0x7f); the largest number is 448. e5m2 has 5 and
// 2 bits and is f16 cut short. Converting to either saturates: what is larger becomes the largest number.
#pragma once

#include "emulator/machine/handlers.h"

namespace tenon::emulator {

uint8_t toE4M3(double value);
uint8_t toE5M2(double value);
float fromE4M3(uint8_t bits);
float fromE5M2(uint8_t bits);

/// d (16 bits) = {a, b} of f32, `a` in the upper byte; `b` kNoOperand: `a` is f16x2. flag: kNarrowE5M2, kNarrowRelu.
Handler toNarrowHandler(bool fromHalves);
/// d (f16x2) = a (16 bits).
Handler fromNarrowHandler();
inline constexpr uint8_t kNarrowE5M2 = 1, kNarrowRelu = 2;

/// cvt.pack: d = {sat(a), sat(b)}, above it the lower bits of `c`. imm: bits of one; flag: signed.
Handler packConversionHandler();

} // namespace tenon::emulator
