// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/round_bf16.h"

#include "tests/unit/compiler/codegen/ptx/rewrites/rewritten.h"

namespace tenon::compiler::codegen {
namespace {

struct Rounded {
  unsigned count = 0;
  std::string text;
  bool has(const std::string &part) const { return text.find(part) != std::string::npos; }
};

/// The body of a function of %x and %p (global memory), rewritten for a target.
Rounded rounded(const std::string &body, uint16_t arch = 90) {
  Rounded result;
  result.text =
      rewritten("define float @f(float %x, ptr addrspace(1) %p) {\n" + body + "\nret float %r\n}\n", Printed::FunctionF,
                [&](llvm::Module &module) { result.count = roundByPairs(module, abi::TargetArch{arch}); });
  return result;
}

TEST(RoundBf16Test, WhatIsWidenedAgainIsTheUpperHalfOfAWord) {
  Rounded text = rounded("%t = fptrunc float %x to bfloat\n%r = fpext bfloat %t to float");
  EXPECT_EQ(text.count, 1u);
  EXPECT_TRUE(text.has("ff2bf16x2.rn(float %x, float 0.0") && text.has("bitcast <2 x bfloat>")) << text.text;
  EXPECT_FALSE(text.has("fptrunc") || text.has("fpext")) << text.text;
}

TEST(RoundBf16Test, ASignIsChangedBehind) {
  Rounded text = rounded("%t = fptrunc float %x to bfloat\n%n = fneg bfloat %t\n%r = fpext bfloat %n to float");
  EXPECT_EQ(text.count, 1u);
  EXPECT_TRUE(text.has("fneg float")) << text.text;
  EXPECT_FALSE(text.has("bfloat %t") || text.has("fpext")) << text.text;
}

TEST(RoundBf16Test, ArithmeticTakesTheLowerHalf) {
  Rounded text = rounded("%t = fptrunc float %x to bfloat\n%s = fadd bfloat %t, 0xR3F80\n"
                         "%r = fpext bfloat %s to float");
  EXPECT_EQ(text.count, 1u);
  EXPECT_TRUE(text.has("ff2bf16x2.rn(float 0.0") && text.has("i64 0") && text.has("fadd bfloat")) << text.text;
  EXPECT_FALSE(text.has("fptrunc")) << text.text;
}

TEST(RoundBf16Test, WhatIsStoredStays) {
  Rounded text = rounded("%t = fptrunc float %x to bfloat\nstore bfloat %t, ptr addrspace(1) %p, align 2\n"
                         "%r = fadd float %x, %x");
  EXPECT_EQ(text.count, 0u);
  EXPECT_TRUE(text.has("fptrunc float %x to bfloat")) << text.text;
}

TEST(RoundBf16Test, WhatIsStoredAndWidenedIsBoth) {
  Rounded text = rounded("%t = fptrunc float %x to bfloat\nstore bfloat %t, ptr addrspace(1) %p, align 2\n"
                         "%r = fpext bfloat %t to float");
  EXPECT_EQ(text.count, 1u);
  EXPECT_TRUE(text.has("store bfloat %t") && text.has("ff2bf16x2.rn(float %x, float 0.0")) << text.text;
}

TEST(RoundBf16Test, TargetsWithoutTheInstructionStay) {
  Rounded text = rounded("%t = fptrunc float %x to bfloat\n%r = fpext bfloat %t to float", 75);
  EXPECT_EQ(text.count, 0u);
  EXPECT_TRUE(text.has("fptrunc")) << text.text;
}

} // namespace
} // namespace tenon::compiler::codegen
