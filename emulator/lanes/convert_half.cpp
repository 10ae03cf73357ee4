// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cvt from and to f16 and bf16, single values and pairs. From wider formats each value is rounded once; to the nearest,
// which is what nearly all ask for, in vectors.
#include "emulator/lanes/convert.h"

namespace tenon::emulator::TENON_LEVEL {
namespace {

using ptx::ScalarType;

/// To f16 and bf16: 64-bit integers keep a sticky bit, so that the double is rounded once only.
template <typename Format, typename S> void integerToHalfLanes(Warp &warp, const Decoded &i, uint32_t mask) {
  const S *a = at<S>(warp, i.a);
  uint16_t result[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) {
    __int128 wide = a[l];
    bool negative = wide < 0;
    uint64_t size = static_cast<uint64_t>(negative ? -wide : wide);
    if (size >> 53)
      size = (size >> 11 | ((size & 0x7ff) != 0)) << 11;
    double value = static_cast<double>(static_cast<int64_t>(size >> 1)) * 2.0 + static_cast<double>(size & 1);
    result[l] = narrow<Format>(negative ? -value : value, static_cast<Rounding>(i.imm));
  }
  write(at<uint16_t>(warp, i.d), result, mask);
}

template <typename Format> void halfToIntegerLanes(Warp &warp, const Decoded &i, uint32_t mask) {
  // imm: rounding | destination bytes << 8 | signed << 16 | ftz << 17
  const uint16_t *a = at<uint16_t>(warp, i.a);
  uint32_t bytes = i.imm >> 8 & 0xff;
  bool isSigned = i.imm >> 16 & 1;
  uint8_t *d = at<uint8_t>(warp, i.d);
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(mask >> l & 1))
      continue;
    float value = roundToIntegral(widen<Format>(a[l]), static_cast<Rounding>(i.imm & 0xff));
    int64_t whole = 0;
    if (isSigned) {
      int64_t whole64 = floatToInteger<int64_t, float>(value, bytes == 8),
              limit = bytes == 8 ? INT64_MAX : (int64_t(1) << (8 * bytes - 1)) - 1;
      whole = bytes == 8 ? whole64 : (whole64 > limit ? limit : (whole64 < -limit - 1 ? -limit - 1 : whole64));
    } else {
      uint64_t whole64 = floatToInteger<uint64_t, float>(value, bytes == 8),
               limit = bytes == 8 ? UINT64_MAX : (uint64_t(1) << (8 * bytes)) - 1;
      whole = static_cast<int64_t>(whole64 > limit ? limit : whole64);
    }
    memcpy(d + l * bytes, &whole, bytes);
  }
}

// To a half from f32 or f64, one per lane. imm: rounding | sat << 8 | relu << 9 | ftz << 10 | satfinite << 11.
template <typename Format> inline uint16_t finishHalf(uint16_t bits, int64_t imm) {
  constexpr uint16_t kInfinity = static_cast<uint16_t>(0x7fff & ~((1 << Format::kMantissa) - 1));
  constexpr uint16_t kOne = Format::kMantissa == 10 ? 0x3c00 : 0x3f80;
  bool nan = (bits & 0x7fff) > kInfinity;
  if ((imm >> 9 & 1) && !nan && (bits & 0x8000))
    bits = 0;
  if ((imm >> 11 & 1) && (bits & 0x7fff) == kInfinity)
    --bits;
  if (imm >> 8 & 1)
    bits = nan || (bits & 0x8000) ? 0 : (bits > kOne ? kOne : bits);
  return bits;
}
/// As finishFloat: sign, quiet, leading payload.
template <typename Format> inline uint16_t narrowNan(double nan) {
  constexpr int kM = Format::kMantissa;
  uint64_t bits = std::bit_cast<uint64_t>(nan) | 1ull << 51;
  constexpr uint64_t kExponentBits = 0x7fff & ~((1u << kM) - 1);
  return static_cast<uint16_t>(bits >> 63 << 15 | kExponentBits | (bits >> (52 - kM) & ((1u << kM) - 1)));
}
template <typename Format, typename S> void floatToHalfLanes(Warp &warp, const Decoded &i, uint32_t mask) {
  const S *a = at<S>(warp, i.a);
  uint16_t result[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) {
    double value = a[l];
    if constexpr (std::is_same_v<S, float>)
      if (i.imm >> 10 & 1)
        value = flush(a[l]);
    uint16_t narrowed = narrow<Format>(value, static_cast<Rounding>(i.imm & 0xff));
    if constexpr (std::is_same_v<S, double>)
      if (value != value)
        narrowed = narrowNan<Format>(value);
    result[l] = finishHalf<Format>(narrowed, i.imm);
  }
  write(at<uint16_t>(warp, i.d), result, mask);
}
/// The same, to the nearest, which is what nearly all conversions want. Plain: no flags in `imm`.
template <typename Format, typename S, bool Plain> inline uint16_t toNearestHalf(S value, int64_t imm) {
  uint16_t narrowed;
  if constexpr (std::is_same_v<S, double>)
    narrowed = value == value ? narrowNearest<Format>(narrowOdd(value)) : narrowNan<Format>(value);
  else
    narrowed = narrowNearest<Format>(!Plain && (imm >> 10 & 1) ? flush(value) : value);
  return Plain ? narrowed : finishHalf<Format>(narrowed, imm);
}
template <typename Format, typename S, bool Plain>
void floatToNearestHalf(Warp &warp, const Decoded &i, uint32_t mask) {
  const S *a = at<S>(warp, i.a);
  forLanes(at<uint16_t>(warp, i.d), mask,
           [=, &i] TENON_LANE(l) { return toNearestHalf<Format, S, Plain>(a[l], i.imm); });
}
template <typename Format, typename S> Handler floatToHalf(const ConvertForm &form) {
  if (form.rounding != Rounding::Rn)
    return &floatToHalfLanes<Format, S>;
  bool plain = !form.ftz && !form.sat && !form.relu && !form.satfinite;
  return plain ? &floatToNearestHalf<Format, S, true> : &floatToNearestHalf<Format, S, false>;
}
/// cvt.f16x2.f32 d, a, b: a is the upper half.
template <typename Format> void floatsToPairLanes(Warp &warp, const Decoded &i, uint32_t mask) {
  const float *a = at<float>(warp, i.a), *b = at<float>(warp, i.b);
  uint32_t *d = at<uint32_t>(warp, i.d);
  const int64_t imm = i.imm;
  const Rounding rounding = static_cast<Rounding>(imm & 0xff);
  auto pair = [](uint16_t high, uint16_t low) { return static_cast<uint32_t>(high) << 16 | low; };
  if (rounding == Rounding::Rn)
    return forLanes(d, mask, [=] TENON_LANE(l) {
      return pair(toNearestHalf<Format, float, false>(a[l], imm), toNearestHalf<Format, float, false>(b[l], imm));
    });
  forLanes(d, mask, [=] TENON_LANE(l) {
    return pair(finishHalf<Format>(narrow<Format>(a[l], rounding), imm),
                finishHalf<Format>(narrow<Format>(b[l], rounding), imm));
  });
}
template <typename Format, typename D, bool Ftz, bool Sat> Handler halfToFloat() {
  // bf16 is the upper half of a single, NaN included.
  constexpr bool kBits = Format::kMantissa == 7 && std::is_same_v<D, float> && !Ftz && !Sat;
  return &unary<D, uint16_t, decltype([](uint16_t a) {
                  float value = kBits ? widen<Format>(a) : output<Ftz, Sat>(widen<Format>(a));
                  return static_cast<D>(value);
                })>;
}
template <typename Format> inline uint16_t roundHalf(uint16_t a, Rounding rounding) {
  return narrow<Format>(static_cast<double>(roundToIntegral(widen<Format>(a), rounding)), Rounding::Rn);
}
template <typename Format> void halfToHalfLanes(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint16_t *a = at<uint16_t>(warp, i.a);
  uint16_t result[kLanes];
  Rounding rounding = static_cast<Rounding>(i.imm & 0xff);
  bool integral = rounding >= Rounding::Rni;
  for (uint32_t l = 0; l < kLanes; ++l)
    result[l] = finishHalf<Format>(integral ? roundHalf<Format>(a[l], rounding) : a[l], i.imm);
  write(at<uint16_t>(warp, i.d), result, mask);
}
template <typename To, typename From> void halfToOtherHalfLanes(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint16_t *a = at<uint16_t>(warp, i.a);
  uint16_t result[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l)
    result[l] = finishHalf<To>(narrow<To>(widen<From>(a[l]), static_cast<Rounding>(i.imm & 0xff)), i.imm);
  write(at<uint16_t>(warp, i.d), result, mask);
}
template <typename Format> Handler fromHalf(const ConvertForm &form) {
  bool integral = form.rounding >= Rounding::Rni;
  switch (form.to) {
  case ScalarType::F32:
    if (form.rounding != Rounding::None)
      return nullptr;
    if (form.ftz)
      return form.sat ? halfToFloat<Format, float, true, true>() : halfToFloat<Format, float, true, false>();
    return form.sat ? halfToFloat<Format, float, false, true>() : halfToFloat<Format, float, false, false>();
  case ScalarType::F64:
    return form.rounding != Rounding::None || form.sat ? nullptr : halfToFloat<Format, double, false, false>();
  case ScalarType::F16:
  case ScalarType::BF16: {
    constexpr bool kFromHalf = Format::kMantissa == 10;
    if (kFromHalf == (form.to == ScalarType::F16))
      return &halfToHalfLanes<Format>;
    if (integral)
      return nullptr;
    return kFromHalf ? &halfToOtherHalfLanes<BFloatFormat, HalfFormat>
                     : &halfToOtherHalfLanes<HalfFormat, BFloatFormat>;
  }
  default:
    return integral ? &halfToIntegerLanes<Format> : nullptr;
  }
}

template <typename Format> Handler fromInteger(ScalarType from) {
  switch (from) {
  case ScalarType::U8:
    return &integerToHalfLanes<Format, uint8_t>;
  case ScalarType::S8:
    return &integerToHalfLanes<Format, int8_t>;
  case ScalarType::U16:
    return &integerToHalfLanes<Format, uint16_t>;
  case ScalarType::S16:
    return &integerToHalfLanes<Format, int16_t>;
  case ScalarType::U32:
    return &integerToHalfLanes<Format, uint32_t>;
  case ScalarType::S32:
    return &integerToHalfLanes<Format, int32_t>;
  case ScalarType::U64:
    return &integerToHalfLanes<Format, uint64_t>;
  case ScalarType::S64:
    return &integerToHalfLanes<Format, int64_t>;
  default:
    return nullptr;
  }
}
template <typename Format> Handler toHalf(const ConvertForm &form) {
  if (form.from == ScalarType::F32)
    return floatToHalf<Format, float>(form);
  if (form.from == ScalarType::F64)
    return floatToHalf<Format, double>(form);
  return form.sat ? nullptr : fromInteger<Format>(form.from);
}

} // namespace

Handler convertFromHalfHandler(const ConvertForm &form) {
  if (form.from == ScalarType::F16)
    return fromHalf<HalfFormat>(form);
  return form.from == ScalarType::BF16 ? fromHalf<BFloatFormat>(form) : nullptr;
}
Handler convertToHalfHandler(const ConvertForm &form) {
  switch (form.to) {
  case ScalarType::F16:
    return toHalf<HalfFormat>(form);
  case ScalarType::BF16:
    return toHalf<BFloatFormat>(form);
  case ScalarType::F16x2:
    return form.from == ScalarType::F32 ? &floatsToPairLanes<HalfFormat> : nullptr;
  case ScalarType::BF16x2:
    return form.from == ScalarType::F32 ? &floatsToPairLanes<BFloatFormat> : nullptr;
  default:
    return nullptr;
  }
}

} // namespace tenon::emulator::TENON_LEVEL
