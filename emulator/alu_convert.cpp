// cvt between integers and floating-point formats. Float to integer rounds by the instruction's mode and clamps to the
// destination's range; NaN gives 0 (the sign bit alone where a side is 64 bits wide). Integer to float and float to a
// narrower float round once in the given mode. Narrow integers arrive and leave in registers of their own width: the
// decoder widens and narrows around (decode.h).
#include "emulator/float_bits.h"

#include <cmath>
#include <limits>

namespace tenon::emulator::TENON_LEVEL {
namespace {

using ptx::ScalarType;

template <typename D, typename S> inline D clampInteger(S value) {
  using Limits = std::numeric_limits<D>;
  __int128 wide = value;
  if (wide < static_cast<__int128>(Limits::min()))
    return Limits::min();
  if (wide > static_cast<__int128>(Limits::max()))
    return Limits::max();
  return static_cast<D>(value);
}

template <typename S> inline S roundToIntegral(S value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Rni:
    return __builtin_elementwise_roundeven(value);
  case Rounding::Rmi:
    return __builtin_elementwise_floor(value);
  case Rounding::Rpi:
    return __builtin_elementwise_ceil(value);
  default:
    return __builtin_elementwise_trunc(value);
  }
}

/// `rounded` is integral (or NaN, infinite).
template <typename D, typename S> inline D floatToInteger(S rounded, bool wideNan) {
  using Limits = std::numeric_limits<D>;
  // 2^N as S, exact: the first value past the range.
  constexpr S kPast = static_cast<S>(static_cast<uint64_t>(1) << (Limits::digits - 1)) * S(2);
  constexpr S kLow = Limits::is_signed ? -kPast : S(0);
  if (rounded != rounded)
    return wideNan ? static_cast<D>(D(1) << (sizeof(D) * 8 - 1)) : D(0);
  if (rounded >= kPast)
    return Limits::max();
  if (rounded <= kLow)
    return Limits::min();
  return static_cast<D>(rounded);
}

template <typename D, typename S, bool Sat> Handler integerToInteger() {
  return &unary<D, S, decltype([](S a) { return Sat ? clampInteger<D, S>(a) : static_cast<D>(a); })>;
}
template <typename S> Handler integerTo(ScalarType to, bool sat) {
#define TO(D) sat ? integerToInteger<D, S, true>() : integerToInteger<D, S, false>()
  switch (to) {
  case ScalarType::U8:
    return TO(uint8_t);
  case ScalarType::S8:
    return TO(int8_t);
  case ScalarType::U16:
    return TO(uint16_t);
  case ScalarType::S16:
    return TO(int16_t);
  case ScalarType::U32:
    return TO(uint32_t);
  case ScalarType::S32:
    return TO(int32_t);
  case ScalarType::U64:
    return TO(uint64_t);
  case ScalarType::S64:
    return TO(int64_t);
  default:
    return nullptr;
  }
#undef TO
}

/// Unsigned 64-bit values by parts, because the compiler's own vector sequence assumes rounding to nearest.
template <typename D, typename S> inline D integerToFloatOne(S a) {
  if constexpr (std::is_same_v<S, uint64_t>) {
    if (a >> 63)
      return static_cast<D>(static_cast<int64_t>(a >> 1 | (a & 1))) * D(2);
    return static_cast<D>(static_cast<int64_t>(a));
  } else
    return static_cast<D>(a);
}
/// Scalar on purpose (see above); `flag` bit 0: .sat.
template <typename D, typename S> void integerToFloatLanes(Warp &warp, const Decoded &i, uint32_t mask) {
  const S *a = at<S>(warp, i.a);
  D *d = at<D>(warp, i.d);
#if defined(__clang__)
#pragma clang loop vectorize(disable) unroll(disable)
#endif
  for (uint32_t l = 0; l < kLanes; ++l)
    if (mask >> l & 1) {
      D value = integerToFloatOne<D, S>(a[l]);
      d[l] = i.flag & 1 ? saturate(value) : value;
    }
}
template <typename D, typename S> Handler integerToFloat(Rounding rounding, bool sat) {
  if (rounding == Rounding::Rn && !sat && sizeof(S) <= 4)
    return &unary<D, S, decltype([](S a) { return static_cast<D>(a); })>;
  return rounded<&integerToFloatLanes<D, S>>(rounding);
}
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
template <typename S> Handler integerToAnyFloat(const ConvertForm &form) {
  switch (form.to) {
  case ScalarType::F32:
    return integerToFloat<float, S>(form.rounding, form.sat);
  case ScalarType::F64:
    return integerToFloat<double, S>(form.rounding, form.sat);
  case ScalarType::F16:
    return form.sat ? nullptr : &integerToHalfLanes<HalfFormat, S>;
  case ScalarType::BF16:
    return form.sat ? nullptr : &integerToHalfLanes<BFloatFormat, S>;
  default:
    return nullptr;
  }
}

template <typename D, typename S, Rounding Mode, bool Ftz> Handler floatToIntegerHandler() {
  return &unary<D, S, decltype([](S a) {
                  constexpr bool kWideNan = sizeof(D) == 8 || sizeof(S) == 8;
                  return floatToInteger<D, S>(roundToIntegral(input<Ftz>(a), Mode), kWideNan);
                })>;
}
template <typename D, typename S> Handler floatToIntegerOf(Rounding rounding, bool ftz) {
#define MODE(R) ftz ? floatToIntegerHandler<D, S, R, true>() : floatToIntegerHandler<D, S, R, false>()
  switch (rounding) {
  case Rounding::Rni:
    return MODE(Rounding::Rni);
  case Rounding::Rzi:
    return MODE(Rounding::Rzi);
  case Rounding::Rmi:
    return MODE(Rounding::Rmi);
  case Rounding::Rpi:
    return MODE(Rounding::Rpi);
  default:
    return nullptr;
  }
#undef MODE
}
template <typename S> Handler floatToAnyInteger(ScalarType to, Rounding rounding, bool ftz) {
  switch (to) {
  case ScalarType::U8:
    return floatToIntegerOf<uint8_t, S>(rounding, ftz);
  case ScalarType::S8:
    return floatToIntegerOf<int8_t, S>(rounding, ftz);
  case ScalarType::U16:
    return floatToIntegerOf<uint16_t, S>(rounding, ftz);
  case ScalarType::S16:
    return floatToIntegerOf<int16_t, S>(rounding, ftz);
  case ScalarType::U32:
    return floatToIntegerOf<uint32_t, S>(rounding, ftz);
  case ScalarType::S32:
    return floatToIntegerOf<int32_t, S>(rounding, ftz);
  case ScalarType::U64:
    return floatToIntegerOf<uint64_t, S>(rounding, ftz);
  case ScalarType::S64:
    return floatToIntegerOf<int64_t, S>(rounding, ftz);
  default:
    return nullptr;
  }
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

/// A NaN of double precision keeps its sign and the leading bits of its payload in a narrower format, and becomes
/// quiet; one of single precision becomes the one NaN that there is.
template <typename D, bool Ftz, bool Sat, typename S> inline D finishFloat(D result, S from) {
  if constexpr (std::is_same_v<S, double> && std::is_same_v<D, float> && !Sat) {
    uint64_t bits = std::bit_cast<uint64_t>(from);
    uint32_t nan = static_cast<uint32_t>(bits >> 63 << 31) | 0x7fc00000u | static_cast<uint32_t>(bits >> 29 & 0x7fffff);
    bool isNan = (bits & ~(1ull << 63)) > 0x7ff0000000000000ull;
    return isNan ? std::bit_cast<float>(nan) : output<Ftz, Sat>(result);
  }
  return output<Ftz, Sat>(result);
}

template <typename D, typename S, bool Ftz, bool Sat> Handler floatToFloat(Rounding rounding) {
  // Ftz concerns the single-precision side.
#define CONVERT(EXPR)                                                                                                  \
  (&unary<D, S, decltype([](S a) {                                                                                     \
            a = input<Ftz>(a);                                                                                         \
            return finishFloat<D, Ftz, Sat>(static_cast<D>(EXPR), a);                                                  \
          })>)
  switch (rounding) {
  case Rounding::Rni:
    return CONVERT(roundToIntegral(a, Rounding::Rni));
  case Rounding::Rzi:
    return CONVERT(roundToIntegral(a, Rounding::Rzi));
  case Rounding::Rmi:
    return CONVERT(roundToIntegral(a, Rounding::Rmi));
  case Rounding::Rpi:
    return CONVERT(roundToIntegral(a, Rounding::Rpi));
  default:
    return rounded<CONVERT(a)>(rounding);
  }
#undef CONVERT
}
template <typename D, typename S> Handler floatToFloatOf(const ConvertForm &form) {
  if (form.ftz)
    return form.sat ? floatToFloat<D, S, true, true>(form.rounding) : floatToFloat<D, S, true, false>(form.rounding);
  return form.sat ? floatToFloat<D, S, false, true>(form.rounding) : floatToFloat<D, S, false, false>(form.rounding);
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

/// tf32 keeps 10 mantissa bits of a float; .rna rounds ties away, .rn to even, .rz truncates.
template <Rounding Mode, bool Relu> Handler toTf32() {
  return &unary<uint32_t, float, decltype([](float a) {
                  uint32_t bits = std::bit_cast<uint32_t>(a);
                  if (a != a) // .rna keeps the payload, the others have one NaN
                    return Mode == Rounding::Rna ? bits & ~0x1fffu : 0x7fffe000u;
                  if (Relu && bits >> 31)
                    return 0u;
                  if ((bits & 0x7f800000u) == 0x7f800000u)
                    return bits;
                  if (Mode == Rounding::Rna)
                    bits += 0x1000u;
                  if (Mode == Rounding::Rn)
                    bits += 0xfffu + (bits >> 13 & 1);
                  return bits & ~0x1fffu;
                })>;
}
Handler tf32(const ConvertForm &form) {
  if (form.from != ScalarType::F32 || form.sat || form.ftz || form.satfinite)
    return nullptr;
  switch (form.rounding) {
  case Rounding::Rna:
    return form.relu ? nullptr : toTf32<Rounding::Rna, false>();
  case Rounding::Rn:
    return form.relu ? toTf32<Rounding::Rn, true>() : toTf32<Rounding::Rn, false>();
  case Rounding::Rz:
    return form.relu ? toTf32<Rounding::Rz, true>() : toTf32<Rounding::Rz, false>();
  default:
    return nullptr;
  }
}

template <typename S> Handler fromFloat(const ConvertForm &form) {
  constexpr bool kSingle = std::is_same_v<S, float>;
  switch (form.to) {
  case ScalarType::F32:
    return floatToFloatOf<float, S>(form);
  case ScalarType::F64:
    return floatToFloatOf<double, S>(form);
  case ScalarType::F16:
    return floatToHalf<HalfFormat, S>(form);
  case ScalarType::BF16:
    return floatToHalf<BFloatFormat, S>(form);
  case ScalarType::F16x2:
    return kSingle ? &floatsToPairLanes<HalfFormat> : nullptr;
  case ScalarType::BF16x2:
    return kSingle ? &floatsToPairLanes<BFloatFormat> : nullptr;
  default:
    return floatToAnyInteger<S>(form.to, form.rounding, form.ftz);
  }
}

} // namespace

Handler convertHandler(const ConvertForm &form) {
  if (form.to == ScalarType::TF32)
    return tf32(form);
  auto fromInteger = [&](auto zero) -> Handler {
    using S = decltype(zero);
    if (Handler h = integerTo<S>(form.to, form.sat))
      return h;
    return integerToAnyFloat<S>(form);
  };
  switch (form.from) {
  case ScalarType::U8:
    return fromInteger(uint8_t());
  case ScalarType::S8:
    return fromInteger(int8_t());
  case ScalarType::U16:
    return fromInteger(uint16_t());
  case ScalarType::S16:
    return fromInteger(int16_t());
  case ScalarType::U32:
    return fromInteger(uint32_t());
  case ScalarType::S32:
    return fromInteger(int32_t());
  case ScalarType::U64:
    return fromInteger(uint64_t());
  case ScalarType::S64:
    return fromInteger(int64_t());
  case ScalarType::F16:
    return fromHalf<HalfFormat>(form);
  case ScalarType::BF16:
    return fromHalf<BFloatFormat>(form);
  case ScalarType::F32:
    return fromFloat<float>(form);
  case ScalarType::F64:
    return fromFloat<double>(form);
  default:
    return nullptr;
  }
}

} // namespace tenon::emulator::TENON_LEVEL
