// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/values/element_text.h"

#include "tests/unit/runtime/fixture.h"

#include <cmath>
#include <cstring>

namespace tenon::runtime {

using namespace tenon::test;
using abi::ElementType;

static std::string roundTrip(std::string_view text, ElementType type) {
  auto bits = parseElement(text, type);
  if (!bits.ok())
    return std::string(bits.status().message());
  uint8_t bytes[8];
  std::memcpy(bytes, &*bits, 8);
  return formatElement(bytes, type);
}

TEST(ElementText, ReadsAndPrintsIntegers) {
  EXPECT_EQ(roundTrip("7", ElementType::I32), "7");
  EXPECT_EQ(roundTrip("-7", ElementType::I8), "-7");
  EXPECT_EQ(roundTrip("255", ElementType::I8), "-1"); // the unsigned range is taken too
  EXPECT_EQ(roundTrip("0xFF", ElementType::I16), "255");
  EXPECT_EQ(roundTrip("-9223372036854775808", ElementType::I64), "-9223372036854775808");
  EXPECT_EQ(roundTrip("18446744073709551615", ElementType::I64), "-1");
  EXPECT_EQ(roundTrip("9007199254740993", ElementType::I64), "9007199254740993"); // no double holds it
  EXPECT_EQ(roundTrip("true", ElementType::I1), "1");
  EXPECT_EQ(roundTrip("0", ElementType::I1), "0");
  EXPECT_EQ(roundTrip("+5", ElementType::Index), "5");
}

TEST(ElementText, ReadsAndPrintsFloats) {
  EXPECT_EQ(roundTrip("96", ElementType::F32), "96");
  EXPECT_EQ(roundTrip("0.5", ElementType::F16), "0.5");
  EXPECT_EQ(roundTrip("1.5e10", ElementType::F32), "1.5E+10");
  EXPECT_EQ(roundTrip("3.14159265", ElementType::F64), "3.14159");
  EXPECT_EQ(roundTrip("inf", ElementType::F32), "INF");
  EXPECT_EQ(roundTrip("-inf", ElementType::BF16), "-INF");
  EXPECT_EQ(roundTrip("nan", ElementType::F16), "NAN");
  EXPECT_EQ(roundTrip("0x1p3", ElementType::F32), "8");
  EXPECT_EQ(roundTrip("1e-45", ElementType::F32), "1.4013E-45");
}

TEST(ElementText, RoundsOnce) {
  // Just above the middle of 1 and the next number: as a float it is the middle, which goes down to even.
  EXPECT_EQ(*parseElement("1.00048828126", ElementType::F16), 0x3c01u);
  EXPECT_EQ(*parseElement("1.00390625001", ElementType::BF16), 0x3f81u);
  EXPECT_EQ(*parseElement("-1.00048828125", ElementType::F16), 0xbc00u);
}

TEST(ElementText, PrintsDigitsEnough) {
  const float next = 1.00000012f;
  EXPECT_EQ(formatElement(reinterpret_cast<const uint8_t *>(&next), ElementType::F32), "1");
  EXPECT_EQ(formatElementExactly(reinterpret_cast<const uint8_t *>(&next), ElementType::F32), "1.00000012");
}

TEST(ElementText, RefusesWhatIsNoNumber) {
  for (const char *text : {"", "x", "1.5", "--1", "0x", "1 "})
    EXPECT_STATUS(parseElement(text, ElementType::I32).status(), InvalidArgument, concat("'", text, "' is no i32"));
  for (const char *text : {"", "x", "1.5z", " 1"})
    EXPECT_STATUS(parseElement(text, ElementType::F32).status(), InvalidArgument, concat("'", text, "' is no f32"));
}

TEST(ElementText, RefusesWhatDoesNotFit) {
  EXPECT_STATUS(parseElement("256", ElementType::I8).status(), OutOfRange, "'256' does not fit i8");
  EXPECT_STATUS(parseElement("-129", ElementType::I8).status(), OutOfRange, "'-129' does not fit i8");
  EXPECT_STATUS(parseElement("2", ElementType::I1).status(), OutOfRange, "'2' does not fit i1");
  EXPECT_STATUS(parseElement("99999999999999999999", ElementType::I64).status(), OutOfRange, "does not fit i64");
  EXPECT_STATUS(parseElement("1e39", ElementType::F32).status(), OutOfRange, "'1e39' does not fit f32");
  EXPECT_STATUS(parseElement("65520", ElementType::F16).status(), OutOfRange, "'65520' does not fit f16");
}

} // namespace tenon::runtime
