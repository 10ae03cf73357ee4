// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions to and from fewer bits than 16: pairs of 8-bit floating-point numbers (cvt.rn.satfinite.e4m3x2) and
// packed integers (cvt.pack.sat).
#pragma once

#include "emulator/machine/handlers.h"

namespace tenon::emulator {

/// d (16 bits) = {a, b} of f32, `a` in the upper byte; `b` kNoOperand: `a` is f16x2. flag: kNarrowE5M2, kNarrowRelu.
Handler toNarrowHandler(bool fromHalves);
/// d (f16x2) = a (16 bits).
Handler fromNarrowHandler();
inline constexpr uint8_t kNarrowE5M2 = 1, kNarrowRelu = 2;

/// cvt.pack: d = {sat(a), sat(b)}, above it the lower bits of `c`. imm: bits of one; flag: signed.
Handler packConversionHandler();

} // namespace tenon::emulator
