// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f16 and bf16 arithmetic, single values and pairs in one register. Sums and products of two such numbers are exact in
// float up to one rounding, so that narrowing once more gives the correctly rounded result (24 >= 2 * 11 + 2). fma adds
// where the product is exact; a sum that is not is made odd, so that narrowing sees on which side it lies.
// NaN results are 0x7fff.
#include "emulator/machine/float_bits.h"

#include <cmath>

namespace tenon::emulator::TENON_LEVEL {
namespace {

using ptx::ScalarType;

template <typename Format> inline uint16_t flushHalf(uint16_t x) {
  constexpr uint16_t kExponentBits = static_cast<uint16_t>(0x7fff & ~((1 << Format::kMantissa) - 1));
  return (x & kExponentBits) == 0 ? x & 0x8000 : x;
}
template <typename Format> inline bool isNan(uint16_t x) {
  constexpr uint16_t kInfinity = static_cast<uint16_t>(0x7fff & ~((1 << Format::kMantissa) - 1));
  return (x & 0x7fff) > kInfinity;
}
/// Orders as signed magnitude: -0 < +0.
inline int32_t orderKey(uint16_t x) {
  return x & 0x8000 ? -static_cast<int32_t>(x & 0x7fff) - 1 : x;
}

template <typename Format, bool Max, bool Nan> inline uint16_t extreme(uint16_t a, uint16_t b) {
  bool aNan = isNan<Format>(a), bNan = isNan<Format>(b);
  bool takeA = Max ? orderKey(a) > orderKey(b) : orderKey(a) < orderKey(b);
  uint16_t r = takeA ? a : b;
  if (Nan)
    return aNan || bNan ? Format::kNan : r;
  r = bNan ? a : (aNan ? b : r);
  return aNan && bNan ? Format::kNan : r;
}
/// .xorsign.abs: the smaller or larger magnitude, with the exclusive or of the signs.
template <typename Format, bool Max, bool Nan> inline uint16_t xorSign(uint16_t a, uint16_t b) {
  uint16_t r = extreme<Format, Max, Nan>(a & 0x7fff, b & 0x7fff);
  return isNan<Format>(r) ? r : static_cast<uint16_t>(r | ((a ^ b) & 0x8000));
}
template <typename Format> inline uint16_t saturateHalf(uint16_t x) {
  constexpr uint16_t kOne = Format::kMantissa == 10 ? 0x3c00 : 0x3f80;
  if (isNan<Format>(x) || (x & 0x8000))
    return 0;
  return x > kOne ? kOne : x;
}
template <typename Format> inline uint16_t reluHalf(uint16_t x) {
  return isNan<Format>(x) ? Format::kNan : (x & 0x8000 ? uint16_t(0) : x);
}

/// Both kinds of register: Count is 32 for single values and 64 for pairs (lane l: elements 2l and 2l+1).
/// d[k] = compute(k) for the elements of the lanes of `mask`; it is computed for all of them.
template <uint32_t Count, typename F>
[[gnu::always_inline]] inline void forHalves(uint16_t *d, uint32_t mask, F compute) {
  alignas(4) uint16_t result[Count];
  uint16_t *to = mask == kAllLanes ? d : result;
  TENON_LANE_LOOP
  for (uint32_t k = 0; k < Count; ++k)
    to[k] = compute(k);
  if (mask == kAllLanes)
    return;
  if constexpr (Count == 64)
    blend(reinterpret_cast<uint32_t *>(d), reinterpret_cast<const uint32_t *>(result), reinterpret_cast<uint32_t *>(d),
          mask);
  else
    blend(d, result, d, mask);
}

template <uint32_t Count, typename F> void halfUnary(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint16_t *a = at<uint16_t>(warp, i.a);
  forHalves<Count>(at<uint16_t>(warp, i.d), mask, [=] TENON_LANE(k) { return F{}(a[k]); });
}
template <uint32_t Count, typename F> void halfBinary(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint16_t *a = at<uint16_t>(warp, i.a), *b = at<uint16_t>(warp, i.b);
  forHalves<Count>(at<uint16_t>(warp, i.d), mask, [=] TENON_LANE(k) { return F{}(a[k], b[k]); });
}
template <uint32_t Count, typename F> void halfTernary(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint16_t *a = at<uint16_t>(warp, i.a), *b = at<uint16_t>(warp, i.b), *c = at<uint16_t>(warp, i.c);
  forHalves<Count>(at<uint16_t>(warp, i.d), mask, [=] TENON_LANE(k) { return F{}(a[k], b[k], c[k]); });
}

template <typename Format, bool Ftz, bool Sat> struct Wrap {
  static uint16_t in(uint16_t x) { return Ftz ? flushHalf<Format>(x) : x; }
  static uint16_t out(uint16_t x) {
    if (Ftz)
      x = flushHalf<Format>(x);
    return Sat ? saturateHalf<Format>(x) : x;
  }
};

#define H1(EXPR)                                                                                                       \
  (&halfUnary<Count, decltype([](uint16_t x) {                                                                         \
                uint16_t a = W::in(x);                                                                                 \
                return W::out(EXPR);                                                                                   \
              })>)
#define H2(EXPR)                                                                                                       \
  (&halfBinary<Count, decltype([](uint16_t x, uint16_t y) {                                                            \
                 uint16_t a = W::in(x), b = W::in(y);                                                                  \
                 return W::out(EXPR);                                                                                  \
               })>)
#define H3(EXPR)                                                                                                       \
  (&halfTernary<Count, decltype([](uint16_t x, uint16_t y, uint16_t z) {                                               \
                  uint16_t a = W::in(x), b = W::in(y), c = W::in(z);                                                   \
                  return W::out(EXPR);                                                                                 \
                })>)

/// .ftz asks whether the result, rounded as if exponents had no end, is below the smallest normal number; rounding at
/// the subnormals' coarser step may bring it there, and it is flushed all the same.
template <typename Format, bool Ftz, typename T> inline T flushTiny(T x) {
  if constexpr (Ftz && Format::kMantissa == 10) {
    constexpr T kSmallest = T(0x1p-14), kAway = T(0x1p20);
    if (std::fabs(x) < kSmallest &&
        std::fabs(widen<Format>(narrow<Format>(static_cast<double>(x * kAway), Rounding::Rn))) < kSmallest * kAway)
      return std::copysign(T(0), x);
  }
  return x;
}
template <typename Format, bool Ftz> inline uint16_t fmaHalf(uint16_t a, uint16_t b, uint16_t c) {
  // f16: the product fits a single, and neither it nor what a sum loses can underflow.
  using Wide = std::conditional_t<Format::kMantissa == 10, float, double>;
  Wide product = static_cast<Wide>(widen<Format>(a)) * static_cast<Wide>(widen<Format>(b));
  Wide sum = addOdd(product, static_cast<Wide>(widen<Format>(c)));
  if constexpr (Ftz && Format::kMantissa == 10)
    return narrow<Format>(flushTiny<Format, Ftz>(sum), Rounding::Rn);
  else if constexpr (Format::kMantissa == 10)
    return narrowNearest<Format>(sum);
  else
    return narrowNearest<Format>(narrowOdd(sum));
}

template <typename Format, uint32_t Count, bool Ftz, bool Sat> Handler of(FloatOp op) {
  using W = Wrap<Format, Ftz, Sat>;
  switch (op) {
  case FloatOp::Add:
    return H2(narrowNearest<Format>(widen<Format>(a) + widen<Format>(b)));
  case FloatOp::Sub:
    return H2(narrowNearest<Format>(widen<Format>(a) - widen<Format>(b)));
  case FloatOp::Mul:
    return H2((narrowNearest<Format>(flushTiny<Format, Ftz>(widen<Format>(a) * widen<Format>(b)))));
  case FloatOp::Fma:
    return H3((fmaHalf<Format, Ftz>(a, b, c)));
  case FloatOp::FmaRelu:
    return H3((reluHalf<Format>(fmaHalf<Format, Ftz>(a, b, c))));
  default:
    break;
  }
  if constexpr (Sat)
    return nullptr;
  switch (op) {
  case FloatOp::Min:
    return H2((extreme<Format, false, false>(a, b)));
  case FloatOp::Max:
    return H2((extreme<Format, true, false>(a, b)));
  case FloatOp::MinNan:
    return H2((extreme<Format, false, true>(a, b)));
  case FloatOp::MaxNan:
    return H2((extreme<Format, true, true>(a, b)));
  case FloatOp::Abs:
    return H1(isNan<Format>(a) ? Format::kNan : static_cast<uint16_t>(a & 0x7fff));
  case FloatOp::Neg:
    return H1(isNan<Format>(a) ? Format::kNan : static_cast<uint16_t>(a ^ 0x8000));
  case FloatOp::MinXorsignAbs:
    return H2((xorSign<Format, false, false>(a, b)));
  case FloatOp::MaxXorsignAbs:
    return H2((xorSign<Format, true, false>(a, b)));
  case FloatOp::MinNanXorsignAbs:
    return H2((xorSign<Format, false, true>(a, b)));
  case FloatOp::MaxNanXorsignAbs:
    return H2((xorSign<Format, true, true>(a, b)));
  case FloatOp::Ex2:
    return H1(narrowNearest<Format>(narrowOdd(std::exp2(static_cast<double>(widen<Format>(a))))));
  case FloatOp::Tanh:
    return H1(narrowNearest<Format>(narrowOdd(std::tanh(static_cast<double>(widen<Format>(a))))));
  default:
    return nullptr;
  }
}

template <typename Format, uint32_t Count> Handler ofFlags(const FloatForm &form) {
  if (form.ftz)
    return form.sat ? of<Format, Count, true, true>(form.op) : of<Format, Count, true, false>(form.op);
  return form.sat ? of<Format, Count, false, true>(form.op) : of<Format, Count, false, false>(form.op);
}

/// Which of less, equal, greater and unordered make a relation hold: bits 0 to 3.
inline uint32_t outcomes(Comparison comparison) {
  constexpr uint32_t kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8;
  switch (comparison) {
  case Comparison::Eq:
    return kEqual;
  case Comparison::Ne:
    return kLess | kGreater;
  case Comparison::Lt:
    return kLess;
  case Comparison::Le:
    return kLess | kEqual;
  case Comparison::Gt:
    return kGreater;
  case Comparison::Ge:
    return kGreater | kEqual;
  case Comparison::Equ:
    return kEqual | kUnordered;
  case Comparison::Neu:
    return kLess | kGreater | kUnordered;
  case Comparison::Ltu:
    return kLess | kUnordered;
  case Comparison::Leu:
    return kLess | kEqual | kUnordered;
  case Comparison::Gtu:
    return kGreater | kUnordered;
  case Comparison::Geu:
    return kGreater | kEqual | kUnordered;
  case Comparison::Num:
    return kLess | kEqual | kGreater;
  case Comparison::Nan:
    return kUnordered;
  }
  return 0;
}

// Comparisons of halves: the relation is in `imm` (bits 0-7), .ftz in bit 8, what set writes in bits 16-31. Of a pair,
// values[0] is of the low halves, values[1] of the high ones.
template <typename Format, uint32_t Count> void halfCompareLanes(Warp &warp, const Decoded &i, uint32_t (&values)[2]) {
  using Register = std::conditional_t<Count == 32, uint16_t, uint32_t>;
  const Register *a = at<Register>(warp, i.a), *b = at<Register>(warp, i.b);
  const uint32_t holding = outcomes(static_cast<Comparison>(i.imm & 0xff));
  const bool ftz = i.imm >> 8 & 1;
  constexpr uint32_t kStep = Count / 32;
  for (uint32_t part = 0; part < kStep; ++part) {
    int16_t truth[kLanes];
    TENON_LANE_LOOP
    for (uint32_t l = 0; l < kLanes; ++l) {
      uint16_t p = static_cast<uint16_t>(a[l] >> (16 * part)), q = static_cast<uint16_t>(b[l] >> (16 * part));
      float x = widen<Format>(ftz ? flushHalf<Format>(p) : p), y = widen<Format>(ftz ? flushHalf<Format>(q) : q);
      uint32_t outcome = x < y ? 1u : x == y ? 2u : x > y ? 4u : 8u;
      truth[l] = (holding & outcome) ? -1 : 0;
    }
    Lanes<int16_t> all;
    readLanes(truth, all);
    values[part] = packMask(all);
  }
  if (kStep == 1)
    values[1] = 0;
}
/// setp: a pair writes p from the low and q from the high half; a single value p and its negation.
template <typename Format, uint32_t Count> void halfSetPredicate(Warp &warp, const Decoded &i, uint32_t mask) {
  uint32_t values[2], negated, unused;
  halfCompareLanes<Format, Count>(warp, i, values);
  uint32_t first = combine(warp, i, values[0], negated);
  uint32_t second = Count == 64 ? combine(warp, i, values[1], unused) : negated;
  if (i.d != kNoOperand)
    writeMask(warp, i.d, first, mask);
  if (i.e != kNoOperand)
    writeMask(warp, i.e, second, mask);
}
template <typename Format, uint32_t Count> void halfSetValue(Warp &warp, const Decoded &i, uint32_t mask) {
  uint32_t values[2], unused;
  halfCompareLanes<Format, Count>(warp, i, values);
  values[0] = combine(warp, i, values[0], unused);
  values[1] = combine(warp, i, values[1], unused);
  const uint32_t truth = static_cast<uint16_t>(i.imm >> 16), low = values[0], high = values[1];
  if constexpr (Count == 32)
    forLanes(at<uint16_t>(warp, i.d), mask,
             [=] TENON_LANE(l) { return static_cast<uint16_t>(low >> l & 1 ? truth : 0); });
  else
    forLanes(at<uint32_t>(warp, i.d), mask,
             [=] TENON_LANE(l) { return (low >> l & 1 ? truth : 0) | (high >> l & 1 ? truth << 16 : 0); });
}
/// set.u32.f16 and the like: a 32-bit result from one half; all ones or 1.0f by `imm` bits 32-63.
template <typename Format> void halfSetWord(Warp &warp, const Decoded &i, uint32_t mask) {
  uint32_t values[2], unused;
  halfCompareLanes<Format, 32>(warp, i, values);
  uint32_t value = combine(warp, i, values[0], unused), truth = static_cast<uint32_t>(i.imm >> 32);
  forLanes(at<uint32_t>(warp, i.d), mask, [=] TENON_LANE(l) { return (value >> l & 1) ? truth : 0; });
}

} // namespace

Handler halfHandler(const FloatForm &form) {
  if (form.rounding != Rounding::None && form.rounding != Rounding::Rn)
    return nullptr;
  switch (form.type) {
  case ScalarType::F16:
    return ofFlags<HalfFormat, 32>(form);
  case ScalarType::F16x2:
    return ofFlags<HalfFormat, 64>(form);
  case ScalarType::BF16:
    return ofFlags<BFloatFormat, 32>(form);
  case ScalarType::BF16x2:
    return ofFlags<BFloatFormat, 64>(form);
  default:
    return nullptr;
  }
}

Handler halfCompareHandler(Comparison, ScalarType type, bool) {
  switch (type) {
  case ScalarType::F16:
    return &halfSetPredicate<HalfFormat, 32>;
  case ScalarType::F16x2:
    return &halfSetPredicate<HalfFormat, 64>;
  case ScalarType::BF16:
    return &halfSetPredicate<BFloatFormat, 32>;
  case ScalarType::BF16x2:
    return &halfSetPredicate<BFloatFormat, 64>;
  default:
    return nullptr;
  }
}

Handler halfSetHandler(Comparison, ScalarType type, bool, ScalarType result) {
  bool word = ptx::byteSize(result) == 4 && (type == ScalarType::F16 || type == ScalarType::BF16);
  switch (type) {
  case ScalarType::F16:
    return word ? &halfSetWord<HalfFormat> : &halfSetValue<HalfFormat, 32>;
  case ScalarType::F16x2:
    return &halfSetValue<HalfFormat, 64>;
  case ScalarType::BF16:
    return word ? &halfSetWord<BFloatFormat> : &halfSetValue<BFloatFormat, 32>;
  case ScalarType::BF16x2:
    return &halfSetValue<BFloatFormat, 64>;
  default:
    return nullptr;
  }
}

} // namespace tenon::emulator::TENON_LEVEL
