// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cvt between integers and floating-point formats. Float to integer rounds by the instruction's mode and clamps to the
// destination's range; NaN gives 0 (the sign bit alone where a side is 64 bits wide). Integer to float and float to a
// narrower float round once in the given mode. Narrow integers arrive and leave in registers of their own width: the
// decoder widens and narrows around (decode.h). f16 and bf16 are in convert_half.cpp.
#include "emulator/lanes/convert.h"

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
template <typename S> Handler integerToAnyFloat(const ConvertForm &form) {
  switch (form.to) {
  case ScalarType::F32:
    return integerToFloat<float, S>(form.rounding, form.sat);
  case ScalarType::F64:
    return integerToFloat<double, S>(form.rounding, form.sat);
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
  switch (form.to) {
  case ScalarType::F32:
    return floatToFloatOf<float, S>(form);
  case ScalarType::F64:
    return floatToFloatOf<double, S>(form);
  default:
    return floatToAnyInteger<S>(form.to, form.rounding, form.ftz);
  }
}

} // namespace

Handler convertHandler(const ConvertForm &form) {
  if (form.to == ScalarType::TF32)
    return tf32(form);
  if (isHalf(form.from))
    return convertFromHalfHandler(form);
  if (isHalf(form.to))
    return convertToHalfHandler(form);
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
  case ScalarType::F32:
    return fromFloat<float>(form);
  case ScalarType::F64:
    return fromFloat<double>(form);
  default:
    return nullptr;
  }
}

} // namespace tenon::emulator::TENON_LEVEL
