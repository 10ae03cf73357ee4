// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/element_type.h"

#include "abi/format/layout_generated.h"

#include <gtest/gtest.h>
#include <string>

using namespace tenon::abi;

TEST(ElementType, KnowsEveryRow) {
  struct Row {
    ElementType type;
    const char *word;
    uint32_t bytes;
    bool isFloat;
  };
  using enum ElementType;
  const Row rows[] = {{I1, "i1", 1, false},      {I8, "i8", 1, false},   {I16, "i16", 2, false},
                      {I32, "i32", 4, false},    {I64, "i64", 8, false}, {F16, "f16", 2, true},
                      {BF16, "bf16", 2, true},   {F32, "f32", 4, true},  {F64, "f64", 8, true},
                      {Index, "index", 8, false}};
  for (const Row &row : rows) {
    EXPECT_EQ(spelling(row.type), row.word);
    EXPECT_EQ(byteSize(row.type), row.bytes) << row.word;
    EXPECT_EQ(isFloat(row.type), row.isFloat) << row.word;
    EXPECT_EQ(parseElementType(row.word), row.type);
  }
}

TEST(ElementType, RefusesOtherWords) {
  for (const char *word : {"", "f8", "I32", "i32 ", "float", "u32"})
    EXPECT_FALSE(parseElementType(word)) << word;
}

TEST(ElementType, TakesUnknownNumbers) {
  EXPECT_EQ(byteSize(ElementType(10)), 0u);
  EXPECT_EQ(spelling(ElementType(255)), "?");
  EXPECT_FALSE(isFloat(ElementType(10)));
}

// Numbers are in files and never change.
TEST(ElementType, HasTheNumbersOfTheSchema) {
  for (fb::ElementType type : fb::EnumValuesElementType()) {
    std::string lower;
    for (const char *c = fb::EnumNameElementType(type); *c; ++c)
      lower += static_cast<char>(*c | 0x20);
    EXPECT_EQ(spelling(static_cast<ElementType>(type)), lower);
  }
}
