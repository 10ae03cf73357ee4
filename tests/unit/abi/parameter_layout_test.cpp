// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/parameter_layout.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace tenon;
using namespace tenon::abi;

static Layout make(size_t bindings, std::vector<Constant> constants, uint32_t hidden = 0) {
  Layout layout;
  layout.bindings.resize(bindings);
  layout.constants = std::move(constants);
  layout.hiddenPointers = hidden;
  return layout;
}

static std::string offsets(const Layout &layout) {
  auto result = computeParameterLayout(layout);
  if (!result.ok())
    return result.status().toString();
  std::string out;
  for (const Parameter &parameter : result->parameters)
    out += concat(parameter.offset, '+', parameter.size, ' ');
  return concat(out, "= ", result->bytes);
}

static Constant block(uint32_t size, uint32_t alignment) {
  return {ConstantKind::Struct, ElementType::I32, size, alignment, "", {}};
}

static Constant tensorMap(std::vector<uint32_t> box, uint32_t binding = 0) {
  Constant map = {ConstantKind::TensorMap, ElementType::F16, 128, 64, "", TensorMap()};
  map.map->binding = binding;
  map.map->box = std::move(box);
  return map;
}

TEST(ParameterLayout, PutsPointersFirst) {
  EXPECT_EQ(offsets(make(0, {})), "= 0");
  EXPECT_EQ(offsets(make(2, {})), "0+8 8+8 = 16");
  EXPECT_EQ(offsets(make(1, {Constant::word(), Constant::word(), Constant::word()})), "0+8 8+4 12+4 16+4 = 20");
}

// The same members in a C struct, by the compiler that builds this test.
TEST(ParameterLayout, FollowsCStructs) {
  struct Mixed {
    void *a, *b;
    bool i1;
    int16_t i16;
    int8_t i8;
    double f64;
    int32_t i32;
    int64_t i64;
    float f32;
    void *hidden;
  };
  using enum ElementType;
  std::vector<Constant> constants;
  for (ElementType type : {I1, I16, I8, F64, I32, I64, F32})
    constants.push_back(Constant::scalar(type));
  auto layout = computeParameterLayout(make(2, constants, 1));
  ASSERT_TRUE(layout.ok());
  const size_t expected[] = {offsetof(Mixed, a),   offsetof(Mixed, b),     offsetof(Mixed, i1),  offsetof(Mixed, i16),
                             offsetof(Mixed, i8),  offsetof(Mixed, f64),   offsetof(Mixed, i32), offsetof(Mixed, i64),
                             offsetof(Mixed, f32), offsetof(Mixed, hidden)};
  ASSERT_EQ(layout->parameters.size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i)
    EXPECT_EQ(layout->parameters[i].offset, expected[i]) << i;
  EXPECT_EQ(layout->bytes, sizeof(Mixed));
  EXPECT_EQ(layout->parameters[9].kind, ParameterKind::Hidden);
  EXPECT_EQ(layout->parameters[3].kind, ParameterKind::Constant);
  EXPECT_EQ(layout->parameters[3].index, 1u);
}

TEST(ParameterLayout, HasNoTailPadding) {
  EXPECT_EQ(offsets(make(1, {Constant::scalar(ElementType::I8)})), "0+8 8+1 = 9");
}

TEST(ParameterLayout, AlignsStructsAndTensorMaps) {
  EXPECT_EQ(offsets(make(1, {block(12, 4), block(16, 16), block(3, 1)})), "0+8 8+12 32+16 48+3 = 51");
  for (uint32_t alignment : {64u, 128u}) {
    Constant map = {ConstantKind::TensorMap, ElementType::I32, 128, alignment, "", {}};
    EXPECT_EQ(offsets(make(1, {map, Constant::word()})),
              concat("0+8 ", alignment, "+128 ", alignment + 128, "+4 = ", alignment + 132));
  }
}

// ptxas counts alignments from the start of the constant bank, which is a multiple of 16 and not always of more.
TEST(ParameterLayout, LeavesWideAlignmentsToTheImage) {
  auto places = [](const Layout &layout) {
    std::string out;
    const Result<ParameterLayout> result = computeParameterLayout(layout);
    for (const Parameter &parameter : result->parameters)
      out += parameter.imagePlaces ? 'i' : 'f';
    return out;
  };
  EXPECT_EQ(places(make(2, {Constant::word(), block(32, 16)}, 1)), "fffff");
  EXPECT_EQ(places(make(1, {Constant::word(), block(32, 32), Constant::word()}, 1)), "ffiii");
  EXPECT_EQ(places(make(1, {block(64, 64)})), "fi");
  EXPECT_TRUE(computeParameterLayout(make(0, {}))->isFixed());
  EXPECT_TRUE(computeParameterLayout(make(1, {block(32, 16)}))->isFixed());
  EXPECT_FALSE(computeParameterLayout(make(1, {block(64, 64), Constant::word()}))->isFixed());
}

TEST(ParameterLayout, CountsTheWordsOfADispatch) {
  Layout layout = make(1, {Constant::scalar(ElementType::I8),
                           block(12, 4),
                           block(16, 16),
                           tensorMap({1, 64, 64}),
                           {ConstantKind::TensorMap, ElementType::I32, 128, 64, "", {}},
                           Constant::word()});
  layout.bindings[0].alignment = 16;
  auto result = computeParameterLayout(layout);
  ASSERT_TRUE(result.ok()) << result.status().toString();
  std::string words;
  for (const Slot &slot : result->slots)
    words += concat(slot.firstWord, '+', slot.words, ' ');
  EXPECT_EQ(words, "0+0 0+1 1+2 3+2 5+3 8+16 24+1 ");
  EXPECT_EQ(result->words, 25u);
  ASSERT_EQ(result->tensorMaps.size(), 1u);
  EXPECT_EQ(result->slots[4].tensorMap, 0u);
  EXPECT_EQ(result->slots[5].tensorMap, Slot::kNoTensorMap);
}

TEST(ParameterLayout, ChecksTheBindingOfATensorMap) {
  Layout layout = make(1, {Constant::word(), tensorMap({64, 64}, 1)});
  EXPECT_EQ(offsets(layout), "invalid argument: [K-22] constant 1: the tensor map is of binding 1, the layout has 1");
  layout.constants[1].map->binding = 0;
  EXPECT_EQ(offsets(layout), "invalid argument: [K-22] constant 1: the tensor map is of binding 0, which promises "
                             "alignment 0: declare alignment 16 on it");
  layout.bindings[0].alignment = 16;
  EXPECT_EQ(offsets(layout), "0+8 8+4 64+128 = 192");
  layout.constants[1].map->mode = TensorMapMode::Im2col;
  EXPECT_EQ(computeParameterLayout(layout).status().code(), StatusCode::Unimplemented);
}

TEST(ParameterLayout, PutsHiddenPointersLast) {
  EXPECT_EQ(offsets(make(1, {Constant::word()}, 2)), "0+8 8+4 16+8 24+8 = 32");
  const Result<ParameterLayout> layout = computeParameterLayout(make(0, {}, 3));
  ASSERT_TRUE(layout.ok());
  for (uint32_t i = 0; i < 3; ++i)
    EXPECT_EQ(layout->parameters[i].index, i) << "they are told apart by their numbers";
}

TEST(ParameterLayout, RefusesMalformedConstants) {
  EXPECT_EQ(offsets(make(0, {Constant::word(), block(0, 4)})), "invalid argument: [K-3] constant 1 has size 0");
  EXPECT_EQ(offsets(make(0, {block(4, 0)})), "invalid argument: [K-3] constant 0 has alignment 0, not a power of two");
  EXPECT_EQ(offsets(make(0, {block(4, 12)})),
            "invalid argument: [K-3] constant 0 has alignment 12, not a power of two");
}

TEST(ParameterLayout, RefusesBindingsThatAreAlignedToNoPowerOfTwo) {
  Layout layout = make(2, {});
  layout.bindings[1].alignment = 64;
  EXPECT_EQ(offsets(layout), "0+8 8+8 = 16");
  layout.bindings[1].alignment = 3;
  EXPECT_EQ(offsets(layout), "invalid argument: [K-3] binding 1 has alignment 3, not a power of two");
}

TEST(ParameterLayout, RefusesBlocksThatAreTooLarge) {
  EXPECT_EQ(offsets(make(0, {block(32764, 4)})), "0+32764 = 32764");
  EXPECT_EQ(offsets(make(0, {block(32765, 4)})),
            "out of range: [K-5] parameter 0 ends at byte 32765, a kernel takes at most 32764 bytes of parameters");
  EXPECT_EQ(computeParameterLayout(make(0, {block(0xffffffff, 1)})).status().code(), StatusCode::OutOfRange);
  EXPECT_EQ(computeParameterLayout(make(1, {block(1, 0x80000000)})).status().code(), StatusCode::OutOfRange);
  EXPECT_EQ(computeParameterLayout(make(0, {}, 0xffffffff)).status().code(), StatusCode::OutOfRange);
}

TEST(PackParameters, StoresTheLowBytes) {
  auto layout = computeParameterLayout(
      make(2, {Constant::scalar(ElementType::I8), Constant::scalar(ElementType::I64), Constant::word()}, 1));
  ASSERT_TRUE(layout.ok());
  const uint64_t bindings[] = {0x1122334455667788, 0x99aabbccddeeff00};
  const uint64_t constants[] = {0xffffffffffffff7f, 0x8000000000000001, 0xffffffff00000002};
  uint8_t out[56];
  std::memset(out, 0xcd, sizeof out);
  ASSERT_TRUE(packParameters(*layout, bindings, 2, constants, 3, out, sizeof out).ok());
  const uint8_t expected[] = {0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x00, 0xff, 0xee, 0xdd,
                              0xcc, 0xbb, 0xaa, 0x99, 0x7f, 0,    0,    0,    0,    0,    0,    0,
                              0x01, 0,    0,    0,    0,    0,    0,    0x80, 2,    0,    0,    0,
                              0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0};
  ASSERT_EQ(layout->bytes, sizeof expected);
  EXPECT_EQ(std::memcmp(out, expected, sizeof expected), 0);
  EXPECT_EQ(out[48], 0xcd); // nothing behind the block is touched
}

TEST(PackParameters, FillsStructsWordByWord) {
  auto layout = computeParameterLayout(make(0, {Constant::scalar(ElementType::I16), block(12, 4), Constant::word()}));
  ASSERT_TRUE(layout.ok());
  const uint64_t words[] = {0x0201, 0x0a09080706050403, 0xffffffff0e0d0c0b, 0x1211100f};
  uint8_t out[20];
  ASSERT_TRUE(packParameters(*layout, nullptr, 0, words, 4, out, sizeof out).ok());
  const uint8_t expected[] = {1, 2, 0, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18};
  EXPECT_EQ(std::memcmp(out, expected, sizeof expected), 0);
}

TEST(PackParameters, ChecksTheArguments) {
  auto layout = computeParameterLayout(make(1, {Constant::word()}));
  ASSERT_TRUE(layout.ok());
  const uint64_t values[4] = {};
  uint8_t out[16];
  EXPECT_EQ(packParameters(*layout, values, 2, values, 1, out, 16).toString(),
            "invalid argument: [K-7] 2 bindings given, the layout has 1");
  EXPECT_EQ(packParameters(*layout, values, 1, values, 0, out, 16).toString(),
            "invalid argument: [K-7] 0 constants given, the layout has 1");
  EXPECT_EQ(packParameters(*layout, values, 1, values, 1, out, 11).toString(),
            "out of range: room for 11 bytes of parameters, the layout has 12");
  EXPECT_TRUE(packParameters(*layout, values, 1, values, 1, out, 12).ok());
  auto wide = computeParameterLayout(make(0, {block(16, 8)}));
  EXPECT_EQ(packParameters(*wide, values, 0, values, 1, out, 16).toString(),
            "invalid argument: [K-7] 1 words of constants given, the layout's 1 constant takes 2");
  EXPECT_TRUE(packParameters(*wide, values, 0, values, 2, out, 16).ok());
  auto none = computeParameterLayout(make(0, {}));
  EXPECT_TRUE(packParameters(*none, nullptr, 0, nullptr, 0, nullptr, 0).ok());
}
