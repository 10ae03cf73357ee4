// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/families/alike.h"

#include "gtest/gtest.h"

namespace tenon::compiler::codegen {
namespace {

TEST(Alike, SizesAndConstantsAreLeftOut) {
  EXPECT_EQ(withoutSizes("func.func @k(%arg0: tensor<64x128xf32>) -> tensor<64xf32>"),
            "func.func @k(%arg0: tensor<#x#xf32>) -> tensor<#xf32>");
  EXPECT_EQ(withoutSizes("%cst = arith.constant 1.500000e+00 : f32\nx"), "%cst = arith.constant  : f32\nx");
  EXPECT_EQ(withoutSizes("tensor<?x128x?x16x16xf32>"), "tensor<?x#x?x#x#xf32>") << "behind one that is not known";
  EXPECT_EQ(withoutSizes("!hal.tensor_map<binding = 1, 72x64xbf16>"), "!hal.tensor_map<binding = 1, #x#xbf16>");
}

TEST(Alike, NumbersOfPlansAreLeftOut) {
  EXPECT_EQ(withoutSizes("{columns = 64 : i64, name = \"contraction\", rows = 128 : i64}"),
            "{columns = # : i64, name = \"contraction\", rows = # : i64}");
  EXPECT_EQ(withoutSizes("binding = 1, step = 64 : i32"), "binding = 1, step = 64 : i32");
  EXPECT_EQ(withoutSizes("tensor<?x?xi8> %0 1x"), "tensor<?x?xi8> %0 #x");
  EXPECT_EQ(withoutSizes(""), "");
}

TEST(Alike, GroupsAreOfMany) {
  std::vector<std::string> texts(1);
  for (size_t i = 0; i < kLeastAlike; ++i)
    texts.push_back("tensor<" + std::to_string(i) + "xf32>");
  texts.push_back("tensor<1xf16>");
  const std::vector<llvm::StringRef> all(texts.begin(), texts.end());
  const auto groups = groupsOfAlike(all);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].size(), kLeastAlike);
  EXPECT_EQ(groups[0].front(), 1u);
  EXPECT_TRUE(groupsOfAlike(llvm::ArrayRef(all).drop_back(2)).empty());
}

} // namespace
} // namespace tenon::compiler::codegen
