// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/widen_bf16.h"

#include "tests/unit/compiler/codegen/ptx/rewrites/rewritten.h"

namespace tenon::compiler::codegen {
namespace {

struct Widened {
  unsigned count = 0;
  std::string text;
  bool has(const std::string &part) const { return text.find(part) != std::string::npos; }
};

/// The body of a function of %p (global memory) and %w (4 words), widened.
Widened widen(const std::string &body) {
  const std::string text =
      "define float @f(ptr addrspace(1) %p, <4 x i32> %w, <8 x bfloat> %v) {\n" + body + "\nret float %r\n}\n";
  Widened result;
  result.text = rewritten(text, Printed::FunctionF, [&](llvm::Module &module) { result.count = widenWords(module); });
  return result;
}

TEST(WidenBf16Test, FirstOfAWordIsShiftedAndTheSecondMasked) {
  const std::string vector = "%b = bitcast <4 x i32> %w to <8 x bfloat>\n";
  Widened even = widen(vector + "%e = extractelement <8 x bfloat> %b, i64 4\n%r = fpext bfloat %e to float");
  EXPECT_EQ(even.count, 1u);
  EXPECT_TRUE(even.has("extractelement <4 x i32> %w, i64 2") && even.has("shl i32") && !even.has("fpext")) << even.text;
  Widened odd = widen(vector + "%e = extractelement <8 x bfloat> %b, i64 7\n%r = fpext bfloat %e to float");
  EXPECT_EQ(odd.count, 1u);
  EXPECT_TRUE(odd.has("extractelement <4 x i32> %w, i64 3") && odd.has("and i32") && odd.has("-65536")) << odd.text;
}

TEST(WidenBf16Test, OneWordIsNoVector) {
  Widened text = widen("%x = extractelement <4 x i32> %w, i64 1\n%b = bitcast i32 %x to <2 x bfloat>\n"
                       "%e = extractelement <2 x bfloat> %b, i64 1\n%r = fpext bfloat %e to float");
  EXPECT_EQ(text.count, 1u);
  EXPECT_TRUE(text.has("and i32 %x, -65536")) << text.text;
}

TEST(WidenBf16Test, WhatIsLoadedIsLoadedAsWords) {
  Widened text = widen("%b = load <8 x bfloat>, ptr addrspace(1) %p, align 16\n"
                       "%e = extractelement <8 x bfloat> %b, i64 0\n%r = fpext bfloat %e to float");
  EXPECT_EQ(text.count, 1u);
  EXPECT_TRUE(text.has("load <4 x i32>, ptr addrspace(1) %p, align 16")) << text.text;
}

TEST(WidenBf16Test, TwoThatAreComputedTogetherAreAWord) {
  Widened text = widen("%x = extractelement <4 x i32> %w, i64 1\n%b = bitcast i32 %x to <2 x bfloat>\n"
                       "%s = fadd <2 x bfloat> %b, %b\n%e = extractelement <2 x bfloat> %s, i64 1\n"
                       "%r = fpext bfloat %e to float");
  EXPECT_EQ(text.count, 1u);
  EXPECT_TRUE(text.has("bitcast <2 x bfloat> %s to i32") && text.has("-65536")) << text.text;
}

TEST(WidenBf16Test, SoAreThoseThatAreCutOutOfAWord) {
  const std::string word = "%x = extractelement <4 x i32> %w, i64 1\n";
  Widened low = widen(word + "%t = trunc i32 %x to i16\n%b = bitcast i16 %t to bfloat\n%r = fpext bfloat %b to float");
  EXPECT_EQ(low.count, 1u);
  EXPECT_TRUE(low.has("shl i32 %x, 16")) << low.text;
  Widened high = widen(word + "%h = lshr i32 %x, 16\n%t = trunc i32 %h to i16\n%b = bitcast i16 %t to bfloat\n"
                              "%r = fpext bfloat %b to float");
  EXPECT_EQ(high.count, 1u);
  EXPECT_TRUE(high.has("and i32 %x, -65536")) << high.text;
  Widened between = widen(word + "%h = lshr i32 %x, 8\n%t = trunc i32 %h to i16\n%b = bitcast i16 %t to bfloat\n"
                                 "%r = fpext bfloat %b to float");
  EXPECT_TRUE(between.has("shl i32 %h, 16")) << between.text;
}

TEST(WidenBf16Test, HalvesOfOtherTypesStayAsTheyAre) {
  EXPECT_EQ(widen("%x = extractelement <4 x i32> %w, i64 1\n%t = trunc i32 %x to i16\n%b = bitcast i16 %t to half\n"
                  "%r = fpext half %b to float")
                .count,
            0u);
  EXPECT_EQ(widen("%p8 = load i64, ptr addrspace(1) %p\n%t = trunc i64 %p8 to i16\n%b = bitcast i16 %t to bfloat\n"
                  "%r = fpext bfloat %b to float")
                .count,
            0u);
}

TEST(WidenBf16Test, OtherVectorsStayAsTheyAre) {
  for (const char *body : {
           "%e = extractelement <8 x bfloat> %v, i64 0\n%r = fpext bfloat %e to float",
           "%b = load <8 x bfloat>, ptr addrspace(1) %p, align 2\n"
           "%e = extractelement <8 x bfloat> %b, i64 0\n%r = fpext bfloat %e to float",
           "%b = bitcast <4 x i32> %w to <8 x half>\n"
           "%e = extractelement <8 x half> %b, i64 0\n%r = fpext half %e to float",
       })
    EXPECT_EQ(widen(body).count, 0u) << body;
}

} // namespace
} // namespace tenon::compiler::codegen
