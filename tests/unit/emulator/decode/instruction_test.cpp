// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions between the types, and what is refused when a module loads.
#include "tests/unit/emulator/instruction_testing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon::emulator::test {
namespace {

template <typename T> uint32_t toInteger(double v) {
  if (v != v)
    return 0;
  if (v >= static_cast<double>(std::numeric_limits<T>::max()))
    return static_cast<uint32_t>(std::numeric_limits<T>::max());
  if (v <= static_cast<double>(std::numeric_limits<T>::min()))
    return static_cast<uint32_t>(std::numeric_limits<T>::min());
  return static_cast<uint32_t>(static_cast<T>(v));
}

TEST(EmulatorInstruction, Conversions) {
  Session session;
  const Case cases[] = {
      {"cvt.rni.s32.f32 %r, %w0;",
       [](uint32_t a, uint32_t, uint32_t) { return toInteger<int32_t>(std::nearbyint(static_cast<double>(f(a)))); }},
      {"cvt.rzi.u32.f32 %r, %w0;",
       [](uint32_t a, uint32_t, uint32_t) { return toInteger<uint32_t>(std::trunc(static_cast<double>(f(a)))); }},
      {"cvt.rmi.s32.f32 %r, %w0;",
       [](uint32_t a, uint32_t, uint32_t) { return toInteger<int32_t>(std::floor(static_cast<double>(f(a)))); }},
      {"cvt.rpi.f32.f32 %r, %w0;", [](uint32_t a, uint32_t, uint32_t) { return bits(std::ceil(f(a))); }},
      {"cvt.sat.f32.f32 %r, %w0;",
       [](uint32_t a, uint32_t, uint32_t) { return bits(f(a) > 0 ? std::min(f(a), 1.0f) : 0.0f); }},
      {"cvt.rn.f16.f32 %s, %w0; cvt.u32.u16 %r, %s;",
       [](uint32_t a, uint32_t, uint32_t) {
         return f(a) != f(a) ? 0x7fffu : std::bit_cast<uint16_t>(static_cast<_Float16>(f(a)));
       }},
      {"cvt.f32.f16 %r, %h0;",
       [](uint32_t a, uint32_t, uint32_t) {
         return bits(static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(a))));
       }},
      {"cvt.rn.bf16.f32 %s, %w0; cvt.u32.u16 %r, %s;",
       [](uint32_t a, uint32_t, uint32_t) { return f(a) != f(a) ? 0x7fffu : (a + 0x7fff + (a >> 16 & 1)) >> 16; }},
      {"cvt.rn.f16x2.f32 %r, %w0, %w1;",
       [](uint32_t a, uint32_t b, uint32_t) {
         auto h = [](uint32_t v) -> uint32_t {
           return f(v) != f(v) ? 0x7fff : std::bit_cast<uint16_t>(static_cast<_Float16>(f(v)));
         };
         return h(a) << 16 | h(b);
       }},
      {"cvt.rna.tf32.f32 %r, %w0;",
       [](uint32_t a, uint32_t, uint32_t) {
         if (f(a) != f(a))
           return a & ~0x1fffu;
         return std::isinf(f(a)) ? a : (a + 0x1000) & ~0x1fffu;
       }},
  };
  for (const Case &c : cases)
    checkWords(c.body, pairs(kFloats), c.want);
  const Case integers[] = {
      {"cvt.sat.s8.s32 %r, %w0;",
       [](uint32_t a, uint32_t, uint32_t) { return static_cast<uint32_t>(std::clamp<int64_t>(s(a), -128, 127)); }},
      {"cvt.s32.s8 %r, %w0;", [](uint32_t a, uint32_t, uint32_t) { return static_cast<uint32_t>(int32_t(int8_t(a))); }},
      {"cvt.u32.u8 %r, %w0;", [](uint32_t a, uint32_t, uint32_t) { return a & 255; }},
      {"cvt.sat.u16.s32 %s, %w0; cvt.u32.u16 %r, %s;",
       [](uint32_t a, uint32_t, uint32_t) { return static_cast<uint32_t>(std::clamp<int64_t>(s(a), 0, 65535)); }},
      {"cvt.rn.f32.s32 %r, %w0;", [](uint32_t a, uint32_t, uint32_t) { return bits(static_cast<float>(int32_t(a))); }},
      {"cvt.rn.f32.u32 %r, %w0;", [](uint32_t a, uint32_t, uint32_t) { return bits(static_cast<float>(a)); }},
  };
  for (const Case &c : integers)
    checkWords(c.body, pairs(kWords), c.want);
}

struct Refusal {
  const char *instruction, *text;
};

/// A module whose kernel `k` has `instruction` at 9:3, beside a kernel `other` that has nothing to be refused.
std::string moduleWith(const char *instruction) {
  return header() + ".visible .entry k()\n{\n  .reg .b32 %r;\n  .reg .b16 %h;\n  .reg .pred %q;\n  " + instruction +
         "\n  ret;\n}\n.visible .entry other()\n{\n  ret;\n}\n";
}

TEST(EmulatorInstruction, RefusesModulesThatAreWrong) {
  Session session;
  const Refusal refusals[] = {
      {"add.s64 %r, %r, %r;", "register '%r' has 32 bits, 'add.s64' writes 64"},
      {"cvt.f16.f32 %h, %r;", "needs a rounding modifier"},
      {"add.s32 %x, %r, %r;", "'%x', the destination of 'add.s32', is not a declared register"},
      {"add.s32 %r, %x, %r;", "'%x' in 'add.s32' is neither a declared register nor a special register"},
      {"bra nowhere;", "label 'nowhere' is not in 'k'"},
      {"call missing;", "'missing' is not declared"},
      {"setp.lo.and.s32 %q, %r, %r;", "takes four operands, found 3"},
      {"add.f32 %r, %r, 1;", "is an integer, a floating-point number is wanted"},
      {"ld.global.v4.b16 %h, [%r];", "wants a vector of 4"},
      {"ld.global.b16 {%h, %h}, [%r];", "the destination of 'ld.global.b16' is not a register"},
      {"mov.u32 %r;", "'mov.u32' has 1 operands, it takes 2"},
      {"setp.eq.s32 %q;", "'setp.eq.s32' has 1 operands, it takes 3 to 4"},
      {"set.eq.u32.s32 %r, %r;", "'set.eq.u32.s32' has 2 operands, it takes 3 to 4"},
      {"mapa.u32 %r, %r, %r;", "'mapa.u32' needs .target sm_90 or higher, the module has sm_75"},
  };
  for (const Refusal &refusal : refusals) {
    Loaded loaded = load(moduleWith(refusal.instruction));
    EXPECT_EQ(loaded.result, CUDA_ERROR_INVALID_PTX) << refusal.instruction;
    EXPECT_NE(loaded.log.find(refusal.text), std::string::npos) << refusal.instruction << "\n" << loaded.log;
    EXPECT_NE(loaded.log.find(":9:3: error: "), std::string::npos) << loaded.log;
  }
}

TEST(EmulatorInstruction, RefusesTheKernelThatItCannotRun) {
  Session session;
  const Refusal refusals[] = {
      {"frob.s32 %r, %r;", "does not support 'frob.s32' (kernel 'k')"},
      {"add.ftz.s32 %r, %r, %r;", "'add.ftz.s32': modifier '.ftz'"},
      {"add.rz.sat.foo.f32 %r, %r, %r;", "modifier '.foo'"},
      {"mov.u32 %r, %pm0;", "does not support the register '%pm0'"},
      {"bar.warp -1;", "does not support 'bar.warp'"},
      {"cp.bulk [%r], [%r], 4;", "does not support 'cp.bulk'"},
  };
  for (const Refusal &refusal : refusals) {
    Loaded loaded = load(moduleWith(refusal.instruction));
    ASSERT_EQ(loaded.result, CUDA_SUCCESS) << refusal.instruction << "\n" << loaded.log;
    CUfunction function = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&function, loaded.module, "k"), CUDA_ERROR_INVALID_PTX) << refusal.instruction;
    EXPECT_EQ(function, nullptr);
    EXPECT_NE(lastReport().find(refusal.text), std::string::npos) << refusal.instruction << "\n" << lastReport();
    EXPECT_NE(lastReport().find(":9:3: error: "), std::string::npos) << lastReport();
    EXPECT_EQ(cuModuleGetFunction(&function, loaded.module, "other"), CUDA_SUCCESS) << refusal.instruction;
    cuModuleUnload(loaded.module);
  }
}

TEST(EmulatorInstruction, RefusesCallersOfAFunctionThatItCannotRun) {
  Session session;
  Loaded loaded = load(header() + R"(
.func helper()
{
  frob.s32;
  ret;
}
.visible .entry k()
{
  call helper;
  ret;
}
.visible .entry other()
{
  ret;
}
)");
  ASSERT_EQ(loaded.result, CUDA_SUCCESS) << loaded.log;
  CUfunction function;
  EXPECT_EQ(cuModuleGetFunction(&function, loaded.module, "k"), CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(lastReport().find(":7:3: error: the emulator does not support 'frob.s32' (function 'helper', which kernel "
                              "'k' can call)"),
            std::string::npos)
      << lastReport();
  EXPECT_EQ(cuModuleGetFunction(&function, loaded.module, "other"), CUDA_SUCCESS);
}

TEST(EmulatorInstruction, TakesVectorsOfOne) {
  Session session;
  checkWords("  ld.global.b32 { %r }, [ %t + 0 ];\n", pairs(kWords), [](uint32_t a, uint32_t, uint32_t) { return a; });
  checkWords("  st.global.b32 [%t], {%w1};\n  ld.global.b32 {%r}, [%t];\n  st.global.b32 [%t], {%w0};\n", pairs(kWords),
             [](uint32_t, uint32_t b, uint32_t) { return b; });
  // Wider registers, as without braces; and moves.
  checkWords("  st.global.b16 [%t], {%w1};\n  ld.global.u16 {%r}, [%t];\n", pairs(kWords),
             [](uint32_t, uint32_t b, uint32_t) { return b & 0xffff; });
  checkWords("  mov.b32 {%r}, %w1;\n  mov.b32 %r, {%r};\n", pairs(kWords),
             [](uint32_t, uint32_t b, uint32_t) { return b; });
}

} // namespace
} // namespace tenon::emulator::test
