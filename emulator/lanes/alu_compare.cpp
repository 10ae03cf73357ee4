// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// setp, set and testp of integers, f32 and f64. Halves are in alu_half.cpp.
#include "emulator/machine/float_bits.h"

#include <cmath>

namespace tenon::emulator::TENON_LEVEL {
namespace {

using ptx::ScalarType;

template <typename T> Handler compareInteger(Comparison comparison) {
#define COMPARE(EXPR) (&setPredicate<T, decltype([](const auto &a, const auto &b) { return EXPR; })>)
  switch (comparison) {
  case Comparison::Eq:
    return COMPARE(a == b);
  case Comparison::Ne:
    return COMPARE(a != b);
  case Comparison::Lt:
    return COMPARE(a < b);
  case Comparison::Le:
    return COMPARE(a <= b);
  case Comparison::Gt:
    return COMPARE(a > b);
  case Comparison::Ge:
    return COMPARE(a >= b);
  default:
    return nullptr;
  }
#undef COMPARE
}
template <typename T> Handler setInteger(Comparison comparison) {
#define SET(EXPR) (&setValue<T, uint32_t, decltype([](const auto &a, const auto &b) { return EXPR; })>)
  switch (comparison) {
  case Comparison::Eq:
    return SET(a == b);
  case Comparison::Ne:
    return SET(a != b);
  case Comparison::Lt:
    return SET(a < b);
  case Comparison::Le:
    return SET(a <= b);
  case Comparison::Gt:
    return SET(a > b);
  case Comparison::Ge:
    return SET(a >= b);
  default:
    return nullptr;
  }
#undef SET
}

/// .ftz of the operands of a relation.
inline void flushLanes(Lanes<float> &x) {
  Lanes<uint32_t> bits = reinterpret_cast<Lanes<uint32_t> &>(x);
  Lanes<uint32_t> tiny = reinterpret_cast<Lanes<uint32_t>>((bits & 0x7f800000u) == 0);
  bits &= ~tiny | 0x80000000u;
  x = reinterpret_cast<Lanes<float> &>(bits);
}
#define RELATION(EXPR)                                                                                                 \
  decltype([](const Lanes<T> &x, const Lanes<T> &y) {                                                                  \
    Lanes<T> a = x, b = y;                                                                                             \
    if constexpr (Ftz) {                                                                                               \
      flushLanes(a);                                                                                                   \
      flushLanes(b);                                                                                                   \
    }                                                                                                                  \
    return EXPR;                                                                                                       \
  })
#define FOR_EACH_RELATION(MAKE)                                                                                        \
  switch (comparison) {                                                                                                \
  case Comparison::Eq:                                                                                                 \
    return MAKE(RELATION(a == b));                                                                                     \
  case Comparison::Ne:                                                                                                 \
    return MAKE(RELATION((a < b) | (a > b)));                                                                          \
  case Comparison::Lt:                                                                                                 \
    return MAKE(RELATION(a < b));                                                                                      \
  case Comparison::Le:                                                                                                 \
    return MAKE(RELATION(a <= b));                                                                                     \
  case Comparison::Gt:                                                                                                 \
    return MAKE(RELATION(a > b));                                                                                      \
  case Comparison::Ge:                                                                                                 \
    return MAKE(RELATION(a >= b));                                                                                     \
  case Comparison::Equ:                                                                                                \
    return MAKE(RELATION(~((a < b) | (a > b))));                                                                       \
  case Comparison::Neu:                                                                                                \
    return MAKE(RELATION(a != b));                                                                                     \
  case Comparison::Ltu:                                                                                                \
    return MAKE(RELATION(~(a >= b)));                                                                                  \
  case Comparison::Leu:                                                                                                \
    return MAKE(RELATION(~(a > b)));                                                                                   \
  case Comparison::Gtu:                                                                                                \
    return MAKE(RELATION(~(a <= b)));                                                                                  \
  case Comparison::Geu:                                                                                                \
    return MAKE(RELATION(~(a < b)));                                                                                   \
  case Comparison::Num:                                                                                                \
    return MAKE(RELATION((a == a) & (b == b)));                                                                        \
  case Comparison::Nan:                                                                                                \
    return MAKE(RELATION((a != a) | (b != b)));                                                                        \
  }                                                                                                                    \
  return nullptr

template <typename T, bool Ftz> Handler compareFloat(Comparison comparison) {
#define MAKE(F) (&setPredicate<T, F>)
  FOR_EACH_RELATION(MAKE);
#undef MAKE
}
template <typename T, bool Ftz> Handler setFloat(Comparison comparison) {
#define MAKE(F) (&setValue<T, uint32_t, F>)
  FOR_EACH_RELATION(MAKE);
#undef MAKE
}

template <typename T, TestProperty Property> void testProperty(Warp &warp, const Decoded &i, uint32_t mask) {
  const T *a = at<T>(warp, i.a);
  uint32_t value = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    T x = a[l];
    bool holds = false;
    switch (Property) {
    case TestProperty::Finite:
      holds = std::isfinite(x);
      break;
    case TestProperty::Infinite:
      holds = std::isinf(x);
      break;
    case TestProperty::Number:
      holds = x == x;
      break;
    case TestProperty::NotANumber:
      holds = x != x;
      break;
    case TestProperty::Normal:
      holds = std::isnormal(x) || x == 0; // zero too: so devices answer
      break;
    case TestProperty::Subnormal:
      holds = std::fpclassify(x) == FP_SUBNORMAL;
      break;
    }
    value |= static_cast<uint32_t>(holds) << l;
  }
  writeMask(warp, i.d, value, mask);
}
template <typename T> Handler testPropertyOf(TestProperty property) {
  switch (property) {
  case TestProperty::Finite:
    return &testProperty<T, TestProperty::Finite>;
  case TestProperty::Infinite:
    return &testProperty<T, TestProperty::Infinite>;
  case TestProperty::Number:
    return &testProperty<T, TestProperty::Number>;
  case TestProperty::NotANumber:
    return &testProperty<T, TestProperty::NotANumber>;
  case TestProperty::Normal:
    return &testProperty<T, TestProperty::Normal>;
  case TestProperty::Subnormal:
    return &testProperty<T, TestProperty::Subnormal>;
  }
  return nullptr;
}

} // namespace

Handler compareIntegerHandler(Comparison comparison, ScalarType type) {
  switch (comparison) { // unsigned names of the same relations
  case Comparison::Ltu:
    comparison = Comparison::Lt;
    break;
  case Comparison::Leu:
    comparison = Comparison::Le;
    break;
  case Comparison::Gtu:
    comparison = Comparison::Gt;
    break;
  case Comparison::Geu:
    comparison = Comparison::Ge;
    break;
  default:
    break;
  }
  switch (type) {
  case ScalarType::B16:
  case ScalarType::U16:
    return compareInteger<uint16_t>(comparison);
  case ScalarType::S16:
    return compareInteger<int16_t>(comparison);
  case ScalarType::B32:
  case ScalarType::U32:
    return compareInteger<uint32_t>(comparison);
  case ScalarType::S32:
    return compareInteger<int32_t>(comparison);
  case ScalarType::B64:
  case ScalarType::U64:
    return compareInteger<uint64_t>(comparison);
  case ScalarType::S64:
    return compareInteger<int64_t>(comparison);
  default:
    return nullptr;
  }
}

Handler setIntegerHandler(Comparison comparison, ScalarType type) {
  switch (type) {
  case ScalarType::B16:
  case ScalarType::U16:
    return setInteger<uint16_t>(comparison);
  case ScalarType::S16:
    return setInteger<int16_t>(comparison);
  case ScalarType::B32:
  case ScalarType::U32:
    return setInteger<uint32_t>(comparison);
  case ScalarType::S32:
    return setInteger<int32_t>(comparison);
  case ScalarType::B64:
  case ScalarType::U64:
    return setInteger<uint64_t>(comparison);
  case ScalarType::S64:
    return setInteger<int64_t>(comparison);
  default:
    return nullptr;
  }
}

Handler compareFloatHandler(Comparison comparison, ScalarType type, bool ftz) {
  if (type == ScalarType::F64)
    return ftz ? nullptr : compareFloat<double, false>(comparison);
  return ftz ? compareFloat<float, true>(comparison) : compareFloat<float, false>(comparison);
}

Handler setFloatHandler(Comparison comparison, ScalarType type, bool ftz) {
  if (type == ScalarType::F64)
    return ftz ? nullptr : setFloat<double, false>(comparison);
  return ftz ? setFloat<float, true>(comparison) : setFloat<float, false>(comparison);
}

Handler testpHandler(TestProperty property, ScalarType type) {
  if (type == ScalarType::F64)
    return testPropertyOf<double>(property);
  return type == ScalarType::F32 ? testPropertyOf<float>(property) : nullptr;
}

} // namespace tenon::emulator::TENON_LEVEL
