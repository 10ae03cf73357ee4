// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/tensor_core_attention.h"

#include "abi/arch_table.h"

#include <gtest/gtest.h>

namespace tenon::compiler::codegen {

using Shape = TensorCoreAttentionShape;

TEST(TensorCoreAttentionShape, ManyRowsHaveFewKeysBesideThemWhereNoMoreFit) {
  for (auto [depth, columns, keys] : {std::array{64u, 64u, 64u},
                                      {32u, 64u, 64u},
                                      {64u, 128u, 64u},
                                      {80u, 128u, 32u},
                                      {128u, 64u, 32u},
                                      {128u, 128u, 32u}}) {
    const Shape shape = Shape::of(128, {depth}, columns, /*isChain=*/false);
    EXPECT_EQ(shape.rows, 128u) << depth << " " << columns;
    EXPECT_EQ(shape.keys, keys) << depth << " " << columns;
    EXPECT_FALSE(shape.isDynamic()) << depth << " " << columns;
    EXPECT_LE(tensorCoreAttentionBytes(shape), abi::kMaxStaticSharedBytes) << depth << " " << columns;
  }
}

TEST(TensorCoreAttentionShape, OthersHaveTheirRowsOneHalfBehindTheOther) {
  for (const Shape &shape : {Shape::of(128, {256}, 256, false), Shape::of(128, {192}, 128, false),
                             Shape::of(128, {64, 64}, 64, true), Shape::of(128, {128}, 128, true)}) {
    EXPECT_EQ(shape.rows, 64u);
    EXPECT_EQ(shape.keys, 64u);
  }
  EXPECT_TRUE(Shape::of(128, {256}, 256, false).isDynamic());
  EXPECT_FALSE(Shape::of(128, {128}, 128, true).isDynamic());
  EXPECT_EQ(Shape::of(64, {128}, 128, false).keys, 64u);
}

} // namespace tenon::compiler::codegen
