// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f32 and f64 arithmetic. Basic operations are IEEE-754 in the rounding mode of the instruction; single-precision NaN
// results are 0x7fffffff, .ftz flushes subnormal inputs and results, .sat clamps to [0, 1]. The approximate functions
// are computed to within about one unit in the last place: more accurate than a device, never bit-equal to it.
#include "emulator/machine/float_bits.h"

#include <cmath>
#include <utility>

namespace tenon::emulator::TENON_LEVEL {
namespace {

using ptx::ScalarType;

template <typename T> inline bool signBit(T x) {
  return std::signbit(x);
}

inline float quiet(float nan) {
  return nan;
}
inline double quiet(double nan) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(nan) | 1ull << 51);
}

/// Smaller of two where -0 < +0; a NaN gives the other operand.
template <typename T> inline T minimum(T a, T b) {
  T r = a < b ? a : b; // b if unordered or equal
  r = a == b && signBit(a) ? a : r;
  r = b != b ? a : r;
  return r;
}
template <typename T> inline T maximum(T a, T b) {
  T r = a > b ? a : b;
  r = a == b && !signBit(a) ? a : r;
  r = b != b ? a : r;
  return r;
}
template <typename T> inline T nanOf() {
  return static_cast<T>(NAN);
}
template <typename T> inline T minimumNan(T a, T b) {
  return a != a || b != b ? nanOf<T>() : minimum(a, b);
}
template <typename T> inline T maximumNan(T a, T b) {
  return a != a || b != b ? nanOf<T>() : maximum(a, b);
}
/// .xorsign.abs: the smaller or larger magnitude, with the exclusive or of the signs.
template <typename T> inline T xorSign(T magnitude, T a, T b) {
  return signBit(a) != signBit(b) ? -std::fabs(magnitude) : std::fabs(magnitude);
}

/// 2^x: integer and fraction, a polynomial for the fraction, scaling in two steps so that subnormal results round once.
inline float exp2Approx(float x) {
  float bounded = x > -180.0f ? (x < 160.0f ? x : 160.0f) : -180.0f; // NaN too: it is put back at the end
  float whole = (bounded + 12582912.0f) - 12582912.0f;
  float f = bounded - whole;
  float p = 1.5252734e-5f;
  p = __builtin_fmaf(p, f, 1.5403530e-4f);
  p = __builtin_fmaf(p, f, 1.3333558e-3f);
  p = __builtin_fmaf(p, f, 9.6181291e-3f);
  p = __builtin_fmaf(p, f, 5.5504109e-2f);
  p = __builtin_fmaf(p, f, 2.4022651e-1f);
  p = __builtin_fmaf(p, f, 6.9314718e-1f);
  p = __builtin_fmaf(p, f, 1.0f);
  int32_t n = static_cast<int32_t>(whole), n1 = n >> 1, n2 = n - n1;
  float s1 = std::bit_cast<float>(static_cast<uint32_t>(n1 + 127) << 23),
        s2 = std::bit_cast<float>(static_cast<uint32_t>(n2 + 127) << 23);
  float r = p * s1 * s2;
  return x == x ? r : x;
}

/// log2(x): exponent plus a series in (m-1)/(m+1) for m in [sqrt(1/2), sqrt(2)), in double.
inline float log2Approx(float x) {
  double wide = x;
  uint64_t bits = std::bit_cast<uint64_t>(wide);
  uint64_t offset = bits - 0x3fe6a09e667f3bcdull; // sqrt(1/2)
  int64_t exponent = static_cast<int64_t>(offset) >> 52;
  double m = std::bit_cast<double>(bits - (static_cast<uint64_t>(exponent) << 52));
  double t = (m - 1.0) / (m + 1.0), q = t * t;
  double series = 1.0 + q * (1.0 / 3 + q * (1.0 / 5 + q * (1.0 / 7 + q * (1.0 / 9 + q * (1.0 / 11 + q * (1.0 / 13))))));
  float r = static_cast<float>(static_cast<double>(static_cast<int32_t>(exponent)) + 2.8853900817779268 * t * series);
  r = x == 0.0f ? -INFINITY : r;
  r = x == INFINITY ? INFINITY : r;
  return x >= 0.0f ? r : NAN;
}

/// div.approx: as documented, a divisor above 2^126 gives 0 (NaN for an infinite dividend).
inline float divideApprox(float a, float b) {
  float q = a / b, size = std::fabs(b);
  bool huge = size > 0x1p126f && size < INFINITY;
  return huge ? (std::fabs(a) == INFINITY ? NAN : (a == a ? std::copysign(0.0f, q) : a)) : q;
}

#define F1(EXPR)                                                                                                       \
  (&unary<T, T, decltype([](T a) {                                                                                     \
            a = input<Ftz>(a);                                                                                         \
            return output<Ftz, Sat>(static_cast<T>(EXPR));                                                             \
          })>)
#define F2(EXPR)                                                                                                       \
  (&binary<T, T, T, decltype([](T a, T b) {                                                                            \
             a = input<Ftz>(a);                                                                                        \
             b = input<Ftz>(b);                                                                                        \
             return output<Ftz, Sat>(static_cast<T>(EXPR));                                                            \
           })>)
#define F3(EXPR)                                                                                                       \
  (&ternary<T, T, T, T, decltype([](T a, T b, T c) {                                                                   \
              a = input<Ftz>(a);                                                                                       \
              b = input<Ftz>(b);                                                                                       \
              c = input<Ftz>(c);                                                                                       \
              return output<Ftz, Sat>(static_cast<T>(EXPR));                                                           \
            })>)

template <typename T> inline T fusedMultiplyAdd(T a, T b, T c) {
  if constexpr (std::is_same_v<T, float>)
    return __builtin_fmaf(a, b, c);
  else
    return __builtin_fma(a, b, c);
}

/// Under .ftz a result is flushed if it is below the smallest normal number when rounded as if exponents had no end;
/// rounding at the subnormals' coarser step may bring it there all the same. Asked only of results that are that
/// number, by the same operation 2^100 higher up, in the rounding mode that is set.
[[gnu::noinline]] inline bool isTiny(float a, float b, float c) {
  if (std::fabs(a) > std::fabs(b))
    std::swap(a, b);
  volatile float low = a * 0x1p100f, high = c * 0x1p100f; // under this mode, not folded
  return std::fabs(__builtin_fmaf(low, b, high)) < 0x1p-26f;
}
inline bool isSmallestNormal(float x) {
  return (std::bit_cast<uint32_t>(x) & 0x7fffffffu) == 0x00800000u;
}
template <bool Sat, bool Fused> void multiplyFlushed(Warp &warp, const Decoded &i, uint32_t mask) {
  const float *a = at<float>(warp, i.a), *b = at<float>(warp, i.b), *c = Fused ? at<float>(warp, i.c) : a;
  float result[kLanes];
  uint32_t candidates = 0;
  TENON_LANE_LOOP
  for (uint32_t l = 0; l < kLanes; ++l) {
    float product = Fused ? __builtin_fmaf(flush(a[l]), flush(b[l]), flush(c[l])) : flush(a[l]) * flush(b[l]);
    candidates |= isSmallestNormal(product) ? 1u : 0u;
    result[l] = output<true, Sat>(product);
  }
  if (candidates)
    for (uint32_t l = 0; l < kLanes; ++l)
      if (isSmallestNormal(result[l]) && isTiny(flush(a[l]), flush(b[l]), Fused ? flush(c[l]) : 0.0f))
        result[l] = Sat ? 0.0f : std::copysign(0.0f, result[l]);
  write(at<float>(warp, i.d), result, mask);
}

/// a / b, of which rcp is the one with 1.
template <bool Sat, bool Reciprocal> void divideFlushed(Warp &warp, const Decoded &i, uint32_t mask) {
  const float *a = at<float>(warp, i.a), *b = Reciprocal ? a : at<float>(warp, i.b);
  float result[kLanes];
  uint32_t candidates = 0;
  TENON_LANE_LOOP
  for (uint32_t l = 0; l < kLanes; ++l) {
    float quotient = (Reciprocal ? 1.0f : flush(a[l])) / flush(b[l]);
    candidates |= isSmallestNormal(quotient) ? 1u : 0u;
    result[l] = output<true, Sat>(quotient);
  }
  if (candidates)
    for (uint32_t l = 0; l < kLanes; ++l) {
      volatile float high = (Reciprocal ? 1.0f : a[l]) * 0x1p100f; // of what gives so little it is finite
      if (isSmallestNormal(result[l]) && std::fabs(high / b[l]) < 0x1p-26f)
        result[l] = Sat ? 0.0f : std::copysign(0.0f, result[l]);
    }
  write(at<float>(warp, i.d), result, mask);
}

/// Operations that round: the handler under each mode.
template <typename T, bool Ftz, bool Sat> Handler arithmetic(FloatOp op, Rounding rounding) {
  if constexpr (Ftz) {
    if (op == FloatOp::Mul)
      return rounded<&multiplyFlushed<Sat, false>>(rounding);
    if (op == FloatOp::Fma)
      return rounded<&multiplyFlushed<Sat, true>>(rounding);
    if (op == FloatOp::Div)
      return rounded<&divideFlushed<Sat, false>>(rounding);
    if (op == FloatOp::Rcp)
      return rounded<&divideFlushed<Sat, true>>(rounding);
  }
  switch (op) {
  case FloatOp::Add:
    return rounded<F2(a + b)>(rounding);
  case FloatOp::Sub:
    return rounded<F2(a - b)>(rounding);
  case FloatOp::Mul:
    return rounded<F2(a * b)>(rounding);
  case FloatOp::Fma:
    return rounded<F3(fusedMultiplyAdd<T>(a, b, c))>(rounding);
  case FloatOp::FmaRelu:
    return rounded<F3(maximum<T>(fusedMultiplyAdd<T>(a, b, c), T(0)))>(rounding);
  case FloatOp::Div:
    return rounded<F2(a / b)>(rounding);
  case FloatOp::Rcp:
    return rounded<F1(T(1) / a)>(rounding);
  case FloatOp::Sqrt:
    return rounded<F1(__builtin_elementwise_sqrt(a))>(rounding);
  default:
    return nullptr;
  }
}

/// Operations that only choose or change signs.
template <typename T, bool Ftz, bool Sat> Handler selection(FloatOp op) {
  switch (op) {
  case FloatOp::Min:
    return F2(minimum<T>(a, b));
  case FloatOp::Max:
    return F2(maximum<T>(a, b));
  case FloatOp::MinNan:
    return F2(minimumNan<T>(a, b));
  case FloatOp::MaxNan:
    return F2(maximumNan<T>(a, b));
  case FloatOp::MinXorsignAbs:
    return F2(xorSign<T>(minimum<T>(std::fabs(a), std::fabs(b)), a, b));
  case FloatOp::MaxXorsignAbs:
    return F2(xorSign<T>(maximum<T>(std::fabs(a), std::fabs(b)), a, b));
  case FloatOp::MinNanXorsignAbs:
    return F2(xorSign<T>(minimumNan<T>(std::fabs(a), std::fabs(b)), a, b));
  case FloatOp::MaxNanXorsignAbs:
    return F2(xorSign<T>(maximumNan<T>(std::fabs(a), std::fabs(b)), a, b));
  // A NaN keeps its sign and becomes quiet (single precision: the one NaN there is).
  case FloatOp::Abs:
    return F1(a == a ? std::fabs(a) : quiet(a));
  case FloatOp::Neg:
    return F1(a == a ? -a : quiet(a));
  case FloatOp::Copysign:
    return &binary<T, T, T, decltype([](T a, T b) { return static_cast<T>(std::copysign(b, a)); })>;
  default:
    return nullptr;
  }
}

template <bool Ftz, bool Sat> Handler approximate(FloatOp op) {
  using T = float;
  switch (op) {
  case FloatOp::DivApprox:
    return F2(divideApprox(a, b));
  case FloatOp::DivFull:
    return F2(a / b);
  case FloatOp::RcpApprox:
    return F1(1.0f / a);
  case FloatOp::SqrtApprox:
    return F1(__builtin_elementwise_sqrt(a));
  case FloatOp::RsqrtApprox:
    return F1(1.0 / __builtin_elementwise_sqrt(static_cast<double>(a)));
  case FloatOp::Ex2:
    return F1(exp2Approx(a));
  case FloatOp::Lg2:
    return F1(log2Approx(a));
  case FloatOp::Sin:
    return F1(std::sin(static_cast<double>(a)));
  case FloatOp::Cos:
    return F1(std::cos(static_cast<double>(a)));
  case FloatOp::Tanh:
    return F1(std::tanh(a));
  default:
    return nullptr;
  }
}

template <bool Ftz, bool Sat> Handler single(const FloatForm &form) {
  if (Handler h = arithmetic<float, Ftz, Sat>(form.op, form.rounding))
    return h;
  if (form.rounding != Rounding::None)
    return nullptr;
  if (Handler h = approximate<Ftz, Sat>(form.op))
    return h;
  return Sat ? nullptr : selection<float, Ftz, false>(form.op);
}

/// rcp/rsqrt.approx.ftz.f64 see and give the upper 32 bits only; subnormals count as zero.
inline double upperHalf(double x) {
  uint64_t bits = std::bit_cast<uint64_t>(x) & 0xffffffff00000000ull;
  if ((bits & 0x7ff0000000000000ull) == 0)
    bits &= 1ull << 63;
  return std::bit_cast<double>(bits);
}

Handler doublePrecision(const FloatForm &form) {
  using T = double;
  constexpr bool Ftz = false, Sat = false;
  if (form.sat)
    return nullptr;
  if (form.ftz) {
    if (form.op == FloatOp::RcpApprox)
      return F1(upperHalf(1.0 / upperHalf(a)));
    if (form.op == FloatOp::RsqrtApprox)
      return F1(upperHalf(1.0 / __builtin_elementwise_sqrt(upperHalf(a))));
    return nullptr;
  }
  if (Handler h = arithmetic<double, false, false>(form.op, form.rounding))
    return h;
  if (form.op == FloatOp::RsqrtApprox)
    return F1(1.0 / __builtin_elementwise_sqrt(a));
  return form.rounding == Rounding::None ? selection<double, false, false>(form.op) : nullptr;
}

} // namespace

Handler floatHandler(const FloatForm &form) {
  if (form.type == ScalarType::F64)
    return doublePrecision(form);
  if (form.type != ScalarType::F32)
    return nullptr;
  if (form.ftz)
    return form.sat ? single<true, true>(form) : single<true, false>(form);
  return form.sat ? single<false, true>(form) : single<false, false>(form);
}

} // namespace tenon::emulator::TENON_LEVEL
