// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/tensor_text.h"

#include "tests/unit/runtime/fixture.h"

namespace tenon::runtime {

using namespace tenon::test;
using abi::ElementType;

/// Text of what was read, or the error.
static std::string roundTrip(std::string_view text, size_t maxElements = 1024) {
  auto tensor = parseTensor(text);
  return tensor.ok() ? formatTensor(*tensor, maxElements) : std::string(tensor.status().message());
}

TEST(TensorText, ReadsEveryForm) {
  EXPECT_EQ(roundTrip("8xf32=2"), "8xf32=2 2 2 2 2 2 2 2");
  EXPECT_EQ(roundTrip("2x2xi32=[[1 2][3 4]]"), "2x2xi32=[1 2][3 4]");
  EXPECT_EQ(roundTrip("2x2xi32=[1 2][3 4]"), "2x2xi32=[1 2][3 4]");
  EXPECT_EQ(roundTrip("2x2xi32=1 2 3 4"), "2x2xi32=[1 2][3 4]");
  EXPECT_EQ(roundTrip("2x2xi32=1,2, 3 ,4"), "2x2xi32=[1 2][3 4]");
  EXPECT_EQ(roundTrip("2x2xi32=[1 2 3 4]"), "2x2xi32=[1 2][3 4]");
  EXPECT_EQ(roundTrip("2x3xi32=[[1,2,3],[4,5,6]]"), "2x3xi32=[1 2 3][4 5 6]");
  EXPECT_EQ(roundTrip("2x1x2xi8=[[[1 2]][[3 4]]]"), "2x1x2xi8=[[1 2]][[3 4]]");
  EXPECT_EQ(roundTrip("3xi64"), "3xi64=0 0 0");
  EXPECT_EQ(roundTrip("3xi64="), "3xi64=0 0 0");
  EXPECT_EQ(roundTrip("f32=3"), "f32=3");
  EXPECT_EQ(roundTrip("i32"), "i32=0");
  EXPECT_EQ(roundTrip("1xi32=[0x10]"), "1xi32=16");
  EXPECT_EQ(roundTrip("0xf32"), "0xf32=");
  EXPECT_EQ(roundTrip("0x4xf32"), "0x4xf32=");
  EXPECT_EQ(roundTrip("2xi1=true 0"), "2xi1=1 0");
  EXPECT_EQ(roundTrip("2xindex=1 2"), "2xindex=1 2");
  EXPECT_EQ(roundTrip("4xbf16=1.5"), "4xbf16=1.5 1.5 1.5 1.5");
}

TEST(TensorText, AnElementThatFillsMayStayOne) {
  const auto bytes = [](std::string_view text) { return parseTensor(text, Fill::One)->bytes; };
  EXPECT_EQ(bytes("3000000000xi16=7"), (std::vector<uint8_t>{7, 0}));
  EXPECT_EQ(bytes("3000000000xi16"), (std::vector<uint8_t>{0, 0}));
  EXPECT_EQ(bytes("2xi8=1 2"), (std::vector<uint8_t>{1, 2}));
  EXPECT_EQ(bytes("0xi8"), std::vector<uint8_t>());
  EXPECT_EQ(parseTensor("3000000000xi16=7 8").status().message(),
            "2 elements, 3000000000xi16 has 3000000000 (one alone would fill it)");
}

TEST(TensorText, ReadsBackWhatItPrints) {
  for (const char *text : {"2x3xi32=[1 2 3][4 5 6]", "2x2x2xf64=[[1 2][3 4]][[5 6][7 8]]",
                           "8xf32=96 96 96 96 96 96 96 96", "3xf16=INF -INF NAN", "i8=-1"})
    EXPECT_EQ(roundTrip(text), text);
}

TEST(TensorText, PrintsAtMostSoManyElements) {
  EXPECT_EQ(roundTrip("8xf32=2", 3), "8xf32=2 2 2...");
  EXPECT_EQ(roundTrip("3x2xi32=1 2 3 4 5 6", 3), "3x2xi32=[1 2][3...]...");
}

TEST(TensorText, RefusesWrongTypes) {
  EXPECT_EQ(roundTrip("8xf31=2"),
            "'8xf31' is no tensor type: 'f31' is no element type; expected i1, i8, i16, i32, i64, "
            "f16, bf16, f32 or f64");
  EXPECT_EQ(roundTrip("?xf32=2"),
            "'?xf32' is no tensor type: '?' is no extent; a value has a size for every dimension");
  EXPECT_EQ(roundTrip("-1xf32=2"), "'-1xf32' is no tensor type: '-1' is no extent");
  EXPECT_EQ(roundTrip("2xxf32=2"), "'2xxf32' is no tensor type: '' is no extent");
  EXPECT_EQ(roundTrip("3.14").rfind("'3.14' is no tensor type", 0), 0u);
  EXPECT_NE(roundTrip("999999999999xf32").find("the limit here is"), std::string::npos);
  EXPECT_NE(roundTrip("9223372036854775807x9xf32").find("larger than 2^63 bytes"), std::string::npos);
}

TEST(TensorText, RefusesWrongElements) {
  EXPECT_EQ(roundTrip("4xi32=1 2 3"), "3 elements, 4xi32 has 4 (one alone would fill it)");
  EXPECT_EQ(roundTrip("2xi32=1 2 3"), "more than the 2 elements of 2xi32");
  EXPECT_EQ(roundTrip("2xi32=1 x"), "element 1: 'x' is no i32");
  EXPECT_EQ(roundTrip("0xi32=1"), "more than the 0 elements of 0xi32");
  EXPECT_EQ(roundTrip("2x2xi32=[[1 2 3][4]]"), "brackets around 3 elements, expected 2 for a tensor of type 2x2xi32");
  EXPECT_EQ(roundTrip("2x2xi32=[[[1 2][3 4]]]"), "brackets nest 3 deep, the tensor has rank 2");
  EXPECT_EQ(roundTrip("2xi32=[1 2"), "'[' without ']'");
  EXPECT_EQ(roundTrip("2xi32=1 2]"), "']' without '['");
}

TEST(TensorText, ReadsScalars) {
  EXPECT_EQ(parseScalar("7", ElementType::I32)->bits, 7);
  EXPECT_EQ(parseScalar("i64=-5", ElementType::I64)->bits, -5);
  EXPECT_EQ(parseScalar(" i8=255 ", ElementType::I8)->bits, -1);
  EXPECT_EQ(parseScalar("2", ElementType::F32)->bits, 0x40000000);
  EXPECT_EQ(parseScalar("i64=3", ElementType::Index)->bits, 3);
  EXPECT_EQ(parseScalar("true", ElementType::I1)->bits, -1);
  EXPECT_EQ(formatScalar(*parseScalar("3.14", ElementType::F32)), "3.14");
  EXPECT_EQ(formatScalar(*parseScalar("1", ElementType::I1)), "1");
  EXPECT_EQ(formatScalar({ElementType::I32, -7}), "-7");
  EXPECT_STATUS(parseScalar("f32=7", ElementType::I32).status(), InvalidArgument,
                "'f32=7' is given for a scalar of type i32");
  EXPECT_STATUS(parseScalar("8xf32=7", ElementType::F32).status(), InvalidArgument, "for a scalar of type f32");
  EXPECT_STATUS(parseScalar("x", ElementType::F32).status(), InvalidArgument, "'x' is no f32");
}

} // namespace tenon::runtime
