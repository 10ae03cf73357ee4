// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/struct_layout.h"

#include <cstddef>
#include <gtest/gtest.h>

namespace tenon::abi {
namespace {

using enum ElementType;

TEST(StructLayout, IsThatOfTheCompiler) {
  struct Mixed {
    int8_t a;
    double b;
    int16_t c;
    float d;
    int8_t e;
  };
  const ElementType members[] = {I8, F64, I16, F32, I8};
  const StructLayout found = structMembers(members);
  EXPECT_EQ(found.offsets, (std::vector<uint32_t>{offsetof(Mixed, a), offsetof(Mixed, b), offsetof(Mixed, c),
                                                  offsetof(Mixed, d), offsetof(Mixed, e)}));
  EXPECT_EQ(found.size, sizeof(Mixed));
  EXPECT_EQ(found.alignment, alignof(Mixed));
}

TEST(StructLayout, OfNothingIsEmpty) {
  const StructLayout found = structMembers({});
  EXPECT_TRUE(found.offsets.empty());
  EXPECT_EQ(found.size, 0u);
  EXPECT_EQ(found.alignment, 1u);
}

} // namespace
} // namespace tenon::abi
