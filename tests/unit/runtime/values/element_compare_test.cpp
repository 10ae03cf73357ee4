// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/values/element_compare.h"

#include "runtime/values/element_text.h"
#include "tests/unit/runtime/fixture.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace tenon::runtime {

using abi::ElementType;

/// Distance of two elements given as text.
static double distance(const char *found, const char *wanted, ElementType element) {
  uint8_t a[8], b[8];
  const uint64_t x = parseElement(found, element).take(), y = parseElement(wanted, element).take();
  std::memcpy(a, &x, 8);
  std::memcpy(b, &y, 8);
  return elementDistance(a, b, element);
}

TEST(ElementCompare, EqualElementsAreNotApart) {
  EXPECT_EQ(distance("7", "7", ElementType::I32), 0);
  EXPECT_EQ(distance("inf", "inf", ElementType::F32), 0);
  EXPECT_EQ(distance("nan", "-nan", ElementType::F16), 0) << "any NaN";
  EXPECT_EQ(distance("0", "-0", ElementType::BF16), 0);
  const uint8_t one = 1, two = 2, zero = 0;
  EXPECT_EQ(elementDistance(&one, &two, ElementType::I1), 0) << "both true";
  EXPECT_TRUE(std::isinf(elementDistance(&one, &zero, ElementType::I1)));
}

TEST(ElementCompare, FloatsAreApartByTheirDifference) {
  EXPECT_EQ(distance("1.5", "1", ElementType::F32), 0.5);
  EXPECT_EQ(distance("1", "3", ElementType::F16), 2);
  EXPECT_EQ(distance("-1", "1", ElementType::F64), 2);
}

TEST(ElementCompare, NothingIsNear) {
  for (ElementType element : {ElementType::F16, ElementType::BF16, ElementType::F32, ElementType::F64}) {
    EXPECT_TRUE(std::isinf(distance("inf", "1", element)));
    EXPECT_TRUE(std::isinf(distance("inf", "-inf", element)));
    EXPECT_TRUE(std::isinf(distance("nan", "1", element)));
    EXPECT_TRUE(std::isinf(distance("1", "nan", element)));
  }
  EXPECT_TRUE(std::isinf(distance("9007199254740993", "9007199254740992", ElementType::I64))) << "one double";
}

TEST(ElementCompare, NearIsFinite) {
  EXPECT_TRUE(isNear(0, 0));
  EXPECT_TRUE(isNear(0.5, 0.5));
  EXPECT_FALSE(isNear(0.6, 0.5));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(isNear(infinity, infinity));
  EXPECT_FALSE(isNear(1, std::nan("")));
}

} // namespace tenon::runtime
