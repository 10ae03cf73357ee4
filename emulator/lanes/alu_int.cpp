// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer, logic, shift and bit-field instructions, over 32 lanes. Arithmetic wraps; shift amounts are unsigned 32-bit
// and clamp at the width (PTX, unlike C, defines them); division by zero gives all ones, and so does its remainder, as
// on devices. bfe, bfi, bmsk, szext and prmt follow the pseudo-code of the PTX ISA chapter "Integer Arithmetic".
#include "emulator/machine/bit_fields.h"
#include "emulator/machine/lanes.h"

#include <type_traits>

namespace tenon::emulator::TENON_LEVEL {
namespace {

using ptx::ScalarType;

#define UNARY(D, A, EXPR) (&unary<D, A, decltype([](A a) { return static_cast<D>(EXPR); })>)
#define BINARY(D, A, B, EXPR) (&binary<D, A, B, decltype([](A a, B b) { return static_cast<D>(EXPR); })>)
#define TERNARY(D, A, B, C, EXPR) (&ternary<D, A, B, C, decltype([](A a, B b, C c) { return static_cast<D>(EXPR); })>)

template <typename T> struct WiderOf;
template <> struct WiderOf<uint16_t> {
  using Type = uint32_t;
};
template <> struct WiderOf<int16_t> {
  using Type = int32_t;
};
template <> struct WiderOf<uint32_t> {
  using Type = uint64_t;
};
template <> struct WiderOf<int32_t> {
  using Type = int64_t;
};
template <> struct WiderOf<uint64_t> {
  using Type = unsigned __int128;
};
template <> struct WiderOf<int64_t> {
  using Type = __int128;
};
template <typename T> using Wider = typename WiderOf<T>::Type;

template <typename T> inline T mulHi(T a, T b) {
  return static_cast<T>((static_cast<Wider<T>>(a) * static_cast<Wider<T>>(b)) >> kBits<T>);
}
template <typename T> inline T divide(T a, T b) {
  if (b == 0)
    return static_cast<T>(-1);
  if constexpr (std::is_signed_v<T>)
    if (b == -1)
      return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
  return static_cast<T>(a / b);
}
template <typename T> inline T remainder(T a, T b) {
  if (b == 0)
    return static_cast<T>(-1);
  if constexpr (std::is_signed_v<T>)
    if (b == -1)
      return 0;
  return static_cast<T>(a % b);
}
inline int32_t clampToS32(int64_t value) {
  return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : static_cast<int32_t>(value);
}

/// lop3: `imm` is the truth table over (a, b, c).
template <typename = void> void lop3(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint32_t *a = at<uint32_t>(warp, i.a), *b = at<uint32_t>(warp, i.b), *c = at<uint32_t>(warp, i.c);
  uint32_t minterms[8];
  for (uint32_t k = 0; k < 8; ++k)
    minterms[k] = i.imm >> k & 1 ? ~0u : 0;
  forLanes(at<uint32_t>(warp, i.d), mask, [=] TENON_LANE(l) {
    uint32_t x = a[l], y = b[l], z = c[l];
    uint32_t high = (y & ((z & minterms[7]) | (~z & minterms[6]))) | (~y & ((z & minterms[5]) | (~z & minterms[4])));
    uint32_t low = (y & ((z & minterms[3]) | (~z & minterms[2]))) | (~y & ((z & minterms[1]) | (~z & minterms[0])));
    return (x & high) | (~x & low);
  });
}

/// d += dot(bytes of a, bytes of b); `imm`: bit 0 a is signed, bit 1 b is signed.
template <int Mode> void dotProduct(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint32_t *a = at<uint32_t>(warp, i.a), *b = at<uint32_t>(warp, i.b), *c = at<uint32_t>(warp, i.c);
  bool aSigned = i.imm & 1, bSigned = i.imm & 2;
  auto byte = [](uint32_t v, uint32_t k, bool s) {
    uint32_t x = v >> (8 * k) & 0xff;
    return s ? static_cast<int8_t>(x) : static_cast<int32_t>(x);
  };
  auto word = [](uint32_t v, uint32_t k, bool s) {
    uint32_t x = v >> (16 * k) & 0xffff;
    return s ? static_cast<int16_t>(x) : static_cast<int32_t>(x);
  };
  forLanes(at<uint32_t>(warp, i.d), mask, [=] TENON_LANE(l) {
    uint32_t sum = c[l];
    if constexpr (Mode == 4)
      for (uint32_t k = 0; k < 4; ++k)
        sum += static_cast<uint32_t>(byte(a[l], k, aSigned) * byte(b[l], k, bSigned));
    else
      for (uint32_t k = 0; k < 2; ++k)
        sum += static_cast<uint32_t>(word(a[l], k, aSigned) * byte(b[l], k + (Mode == 2 ? 2 : 0), bSigned));
    return sum;
  });
}

/// add.cc, addc, sub.cc, subc, mad.lo/hi.cc, madc: the carry of each lane is a bit of the mask at `e`. A difference is
/// a sum, a + ~b + 1, as in hardware: its carry says that nothing was borrowed, and subc takes one away where there is
/// none. Code that goes on with addc after sub.cc sees which: nvcc's division of 128 bits does.
/// T is signed where that changes the product: madc.hi.
template <typename T, IntOp Op> void carry(Warp &warp, const Decoded &i, uint32_t mask) {
  using U = std::make_unsigned_t<T>;
  const U *a = at<U>(warp, i.a), *b = at<U>(warp, i.b), *c = Op >= IntOp::CarryMadLo ? at<U>(warp, i.c) : b;
  constexpr uint32_t kNone = Op == IntOp::CarrySub ? kAllLanes : 0;
  uint32_t carryIn = i.flag & kCarryIn ? *at<uint32_t>(warp, i.e) : kNone;
  U result[kLanes];
  std::make_signed_t<T> carries[kLanes];
  TENON_LANE_LOOP
  for (uint32_t l = 0; l < kLanes; ++l) {
    U in = carryIn >> l & 1, first = a[l], second = c[l];
    if constexpr (Op == IntOp::CarrySub)
      second = ~second;
    if constexpr (Op == IntOp::CarryMadLo)
      first *= b[l];
    if constexpr (Op == IntOp::CarryMadHi)
      first = static_cast<U>(mulHi<T>(static_cast<T>(first), static_cast<T>(b[l])));
    U sum = first + second;
    result[l] = sum + in;
    carries[l] = sum < second || sum + in < in ? -1 : 0;
  }
  write(at<U>(warp, i.d), result, mask);
  if (i.flag & kCarryOut) {
    Lanes<std::make_signed_t<T>> out;
    readLanes(carries, out);
    writeMask(warp, i.e, packMask(out), mask);
  }
}

template <typename T> void select(Warp &warp, const Decoded &i, uint32_t mask) {
  const T *a = at<T>(warp, i.a), *b = at<T>(warp, i.b);
  uint32_t chosen = *at<uint32_t>(warp, i.c);
  if (i.flag & kThirdNegated)
    chosen = ~chosen;
  T *d = at<T>(warp, i.d);
  if (mask == kAllLanes)
    return blend(d, a, b, chosen);
  T result[kLanes];
  blend(result, a, b, chosen);
  write(d, result, mask);
}

/// Operations that both 16-, 32- and 64-bit integers have.
template <typename T> Handler common(IntOp op) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
  case IntOp::Add:
    return BINARY(U, U, U, a + b);
  case IntOp::Sub:
    return BINARY(U, U, U, a - b);
  case IntOp::MulLo:
    return BINARY(U, U, U, static_cast<uint64_t>(a) * b);
  case IntOp::MulHi:
    return BINARY(T, T, T, mulHi<T>(a, b));
  case IntOp::MadLo:
    return TERNARY(U, U, U, U, static_cast<uint64_t>(a) * b + c);
  case IntOp::MadHi:
    return TERNARY(U, T, T, U, static_cast<U>(mulHi<T>(a, b)) + c);
  case IntOp::Div:
    return BINARY(T, T, T, divide<T>(a, b));
  case IntOp::Rem:
    return BINARY(T, T, T, remainder<T>(a, b));
  case IntOp::Min:
    return BINARY(T, T, T, a < b ? a : b);
  case IntOp::Max:
    return BINARY(T, T, T, a > b ? a : b);
  case IntOp::MinRelu:
    return BINARY(T, T, T, (a < b ? a : b) > 0 ? (a < b ? a : b) : 0);
  case IntOp::MaxRelu:
    return BINARY(T, T, T, (a > b ? a : b) > 0 ? (a > b ? a : b) : 0);
  case IntOp::Abs:
    return UNARY(U, T, a < 0 ? U(0) - static_cast<U>(a) : static_cast<U>(a));
  case IntOp::Neg:
    return UNARY(U, U, U(0) - a);
  case IntOp::And:
    return BINARY(U, U, U, a & b);
  case IntOp::Or:
    return BINARY(U, U, U, a | b);
  case IntOp::Xor:
    return BINARY(U, U, U, a ^ b);
  case IntOp::Not:
    return UNARY(U, U, ~a);
  case IntOp::Cnot:
    return UNARY(U, U, a == 0);
  case IntOp::Shl:
    return BINARY(U, U, uint32_t, b >= kBits<U> ? U(0) : static_cast<U>(a << (b & (kBits<U> - 1))));
  case IntOp::Shr:
    return BINARY(T, T, uint32_t, b >= kBits<T> ? (a < 0 ? T(-1) : T(0)) : static_cast<T>(a >> (b & (kBits<T> - 1))));
  case IntOp::Sad:
    return TERNARY(U, T, T, U,
                   c + (a < b ? static_cast<U>(b) - static_cast<U>(a) : static_cast<U>(a) - static_cast<U>(b)));
  case IntOp::Mov:
    return UNARY(U, U, a);
  case IntOp::Select:
    return &select<U>;
  default:
    return nullptr;
  }
}

/// Operations of 32- and 64-bit integers.
template <typename T> Handler wide(IntOp op) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
  case IntOp::Popc:
    return UNARY(uint32_t, U, __builtin_popcountll(a));
  case IntOp::Clz:
    return UNARY(uint32_t, U, a == 0 ? kBits<U> : static_cast<uint32_t>(__builtin_clzll(a)) - (64 - kBits<U>));
  case IntOp::Brev:
    return UNARY(U, U, reverseBits<U>(a));
  case IntOp::Bfind:
    return UNARY(uint32_t, T, findMostSignificant<T>(a, false));
  case IntOp::BfindShift:
    return UNARY(uint32_t, T, findMostSignificant<T>(a, true));
  case IntOp::Bfe:
    return TERNARY(T, T, uint32_t, uint32_t, bitFieldExtract<T>(a, b, c));
  case IntOp::Bfi:
    return [](Warp &warp, const Decoded &i, uint32_t mask) {
      const U *a = at<U>(warp, i.a), *b = at<U>(warp, i.b);
      const uint32_t *c = at<uint32_t>(warp, i.c), *e = at<uint32_t>(warp, i.e);
      forLanes(at<U>(warp, i.d), mask, [=] TENON_LANE(l) { return bitFieldInsert<U>(a[l], b[l], c[l], e[l]); });
    };
  case IntOp::CarryAdd:
    return &carry<U, IntOp::CarryAdd>;
  case IntOp::CarrySub:
    return &carry<U, IntOp::CarrySub>;
  case IntOp::CarryMadLo:
    return &carry<U, IntOp::CarryMadLo>;
  case IntOp::CarryMadHi:
    return &carry<T, IntOp::CarryMadHi>;
  default:
    return common<T>(op);
  }
}

template <typename T> Handler widening(IntOp op) {
  using W = Wider<T>;
  if (op == IntOp::MulWide)
    return BINARY(W, T, T, static_cast<W>(a) * static_cast<W>(b));
  if (op == IntOp::MadWide)
    return TERNARY(W, T, T, W,
                   static_cast<W>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b) + static_cast<uint64_t>(c)));
  return nullptr;
}

/// The 48-bit product of the low 24 bits.
template <typename T> inline int64_t product24(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<int64_t>(static_cast<int32_t>(static_cast<uint32_t>(a) << 8) >> 8) *
           (static_cast<int32_t>(static_cast<uint32_t>(b) << 8) >> 8);
  else
    return static_cast<int64_t>(static_cast<uint64_t>(a & 0xffffff) * (b & 0xffffff));
}

/// Operations of 32-bit integers only.
template <typename T> Handler only32(IntOp op) {
  using U = uint32_t;
  switch (op) {
  case IntOp::AddSat:
    return BINARY(T, T, T, clampToS32(static_cast<int64_t>(a) + b));
  case IntOp::SubSat:
    return BINARY(T, T, T, clampToS32(static_cast<int64_t>(a) - b));
  case IntOp::MadHiSat:
    return TERNARY(T, T, T, T, clampToS32(static_cast<int64_t>(mulHi<T>(a, b)) + c));
  case IntOp::Mul24Lo:
    return BINARY(U, T, T, product24<T>(a, b));
  case IntOp::Mul24Hi:
    return BINARY(U, T, T, product24<T>(a, b) >> 16);
  case IntOp::Mad24Lo:
    return TERNARY(U, T, T, U, static_cast<U>(product24<T>(a, b)) + c);
  case IntOp::Mad24Hi:
    return TERNARY(U, T, T, U, static_cast<U>(product24<T>(a, b) >> 16) + c);
  case IntOp::Mad24HiSat:
    return TERNARY(T, T, T, T, clampToS32(static_cast<int32_t>(product24<T>(a, b) >> 16) + static_cast<int64_t>(c)));
  case IntOp::BmskClamp:
    return BINARY(U, U, U, bitMask(a, b, true));
  case IntOp::BmskWrap:
    return BINARY(U, U, U, bitMask(a, b, false));
  case IntOp::SzextClamp:
    return BINARY(U, T, U, signZeroExtend<T>(a, b, true));
  case IntOp::SzextWrap:
    return BINARY(U, T, U, signZeroExtend<T>(a, b, false));
  case IntOp::Prmt:
    return TERNARY(U, U, U, U, permute(a, b, c));
  case IntOp::PrmtF4e:
    return TERNARY(U, U, U, U, permute(a, b, kF4e[c & 3]));
  case IntOp::PrmtB4e:
    return TERNARY(U, U, U, U, permute(a, b, kB4e[c & 3]));
  case IntOp::PrmtRc8:
    return TERNARY(U, U, U, U, permute(a, b, kRc8[c & 3]));
  case IntOp::PrmtEcl:
    return TERNARY(U, U, U, U, permute(a, b, kEcl[c & 3]));
  case IntOp::PrmtEcr:
    return TERNARY(U, U, U, U, permute(a, b, kEcr[c & 3]));
  case IntOp::PrmtRc16:
    return TERNARY(U, U, U, U, permute(a, b, kRc16[c & 3]));
  case IntOp::Lop3:
    return &lop3<>;
  case IntOp::ShfLeftClamp:
    return TERNARY(U, U, U, U, c >= 32 ? a : static_cast<U>((static_cast<uint64_t>(b) << 32 | a) << (c & 31) >> 32));
  case IntOp::ShfLeftWrap:
    return TERNARY(U, U, U, U, (static_cast<uint64_t>(b) << 32 | a) << (c & 31) >> 32);
  case IntOp::ShfRightClamp:
    return TERNARY(U, U, U, U, (static_cast<uint64_t>(b) << 32 | a) >> (c < 32 ? c : 32));
  case IntOp::ShfRightWrap:
    return TERNARY(U, U, U, U, (static_cast<uint64_t>(b) << 32 | a) >> (c & 31));
  case IntOp::Dp4a:
    return &dotProduct<4>;
  case IntOp::Dp2aLo:
    return &dotProduct<1>;
  case IntOp::Dp2aHi:
    return &dotProduct<2>;
  case IntOp::Fns:
    return TERNARY(U, U, U, int32_t, findNthSet(a, b, c));
  case IntOp::MulWide:
  case IntOp::MadWide:
    return widening<T>(op);
  default:
    return wide<T>(op);
  }
}

/// Pairs of 16-bit integers in one 32-bit register.
template <typename T> Handler pair16(IntOp op) {
#define PAIR(EXPR)                                                                                                     \
  BINARY(uint32_t, uint32_t, uint32_t, ([](uint32_t p, uint32_t q) {                                                   \
           auto f = [](T x, T y) { return static_cast<uint16_t>(EXPR); };                                              \
           return static_cast<uint32_t>(f(static_cast<T>(p), static_cast<T>(q))) |                                     \
                  static_cast<uint32_t>(f(static_cast<T>(p >> 16), static_cast<T>(q >> 16))) << 16;                    \
         }(a, b)))
  switch (op) {
  case IntOp::Add:
    return PAIR(x + y);
  case IntOp::Min:
    return PAIR(x < y ? x : y);
  case IntOp::Max:
    return PAIR(x > y ? x : y);
  case IntOp::MinRelu:
    return PAIR((x < y ? x : y) > 0 ? (x < y ? x : y) : 0);
  case IntOp::MaxRelu:
    return PAIR((x > y ? x : y) > 0 ? (x > y ? x : y) : 0);
  default:
    return nullptr;
  }
#undef PAIR
}

/// Predicates are masks of 32 lanes: one word does all.
template <typename F> void predicateOp(Warp &warp, const Decoded &i, uint32_t mask) {
  uint32_t b = i.b == kNoOperand ? 0 : *at<uint32_t>(warp, i.b);
  writeMask(warp, i.d, F{}(*at<uint32_t>(warp, i.a), b), mask);
}
Handler predicate(IntOp op) {
#define PRED(EXPR) (&predicateOp<decltype([](uint32_t a, uint32_t b) { return static_cast<uint32_t>(EXPR); })>)
  switch (op) {
  case IntOp::And:
    return PRED(a & b);
  case IntOp::Or:
    return PRED(a | b);
  case IntOp::Xor:
    return PRED(a ^ b);
  case IntOp::Not:
    return PRED(~a | (b & 0));
  case IntOp::Mov:
    return PRED(a | (b & 0));
  default:
    return nullptr;
  }
#undef PRED
}

} // namespace

Handler integerHandler(IntOp op, ScalarType type) {
  switch (type) {
  case ScalarType::Pred:
    return predicate(op);
  case ScalarType::B8:
  case ScalarType::U8:
    return op == IntOp::Mov ? UNARY(uint8_t, uint8_t, a) : nullptr;
  case ScalarType::B16:
  case ScalarType::U16:
    return op == IntOp::MulWide || op == IntOp::MadWide ? widening<uint16_t>(op) : common<uint16_t>(op);
  case ScalarType::S16:
    return op == IntOp::MulWide || op == IntOp::MadWide ? widening<int16_t>(op) : common<int16_t>(op);
  case ScalarType::B32:
  case ScalarType::U32:
    return only32<uint32_t>(op);
  case ScalarType::S32:
    return only32<int32_t>(op);
  case ScalarType::B64:
  case ScalarType::U64:
    return wide<uint64_t>(op);
  case ScalarType::S64:
    return wide<int64_t>(op);
  case ScalarType::U16x2:
    return pair16<uint16_t>(op);
  case ScalarType::S16x2:
    return pair16<int16_t>(op);
  default:
    return nullptr;
  }
}

} // namespace tenon::emulator::TENON_LEVEL
