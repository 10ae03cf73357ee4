// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/tensor_map.h"

#include <gtest/gtest.h>

using namespace tenon;
using namespace tenon::abi;

static TensorMap map(std::vector<uint32_t> box) {
  TensorMap out;
  out.box = std::move(box);
  return out;
}

static std::string finding(const TensorMap &map, ElementType element = ElementType::F16) {
  return std::string(checkTensorMap(map, element).message());
}

TEST(TensorMap, TakesWhatTheDriverTakes) {
  EXPECT_EQ(finding(map({64, 64})), "");
  EXPECT_EQ(finding(map({256}), ElementType::I8), "");
  EXPECT_EQ(finding(map({1, 1, 1, 1, 8})), "");
  TensorMap full = map({8, 64});
  full.swizzle = TensorMapSwizzle::B128;
  full.elementStrides = {1, 8};
  full.fill = TensorMapFill::Nans;
  EXPECT_EQ(finding(full), "");
}

TEST(TensorMap, RefusesWhatItDoesNot) {
  EXPECT_EQ(finding(map({})), "the box of a tensor map has 0 dimensions, possible are 1 to 5");
  EXPECT_EQ(finding(map({1, 1, 1, 1, 1, 8})), "the box of a tensor map has 6 dimensions, possible are 1 to 5");
  EXPECT_EQ(finding(map({257, 8})), "the box of a tensor map is 257x8, each extent may be 1 to 256");
  EXPECT_EQ(finding(map({4, 0})), "the box of a tensor map is 4x0, each extent may be 1 to 256");
  EXPECT_EQ(finding(map({64, 4})), "the last extent of a tensor map's box is 4 elements of f16, 8 bytes: make it a "
                                   "multiple of 16 bytes");
  EXPECT_EQ(finding(map({8}), ElementType::Index), "a tensor map has no elements of type index");
  TensorMap bad = map({8, 64});
  bad.swizzle = TensorMapSwizzle::B64;
  EXPECT_EQ(finding(bad), "the last extent of a tensor map's box is 128 bytes, swizzle B64 takes at most 64");
  bad = map({8, 64});
  bad.elementStrides = {1};
  EXPECT_EQ(finding(bad), "a tensor map has 1 element strides, its box 2 dimensions");
  bad.elementStrides = {9, 1};
  EXPECT_EQ(finding(bad), "the element strides of a tensor map are 9x1, each may be 1 to 8");
  bad = map({8, 64});
  bad.interleave = TensorMapInterleave::B32;
  EXPECT_EQ(finding(bad), "an interleaved tensor map has 3 dimensions or more, this one 2");
  bad.box = {1, 8, 64};
  EXPECT_EQ(finding(bad), "a tensor map of interleave B32 has swizzle B32, this one None");
  bad = map({16});
  bad.fill = TensorMapFill::Nans;
  EXPECT_EQ(finding(bad, ElementType::I8), "a tensor map of i8 cannot be filled with NaNs");
  bad.fill = TensorMapFill::Zeros;
  bad.mode = TensorMapMode::Im2col;
  EXPECT_EQ(checkTensorMap(bad, ElementType::I8).code(), StatusCode::Unimplemented);
}
