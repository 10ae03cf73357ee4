// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions of 8-bit floating-point numbers, packed integers, 128-bit values, atomics of vectors.
#include "tests/unit/emulator/harness.h"

#include <bit>
#include <cmath>

namespace tenon::emulator::test {
namespace {

/// One thread; %r0 is stored as the result, %rd0 points to 64 bytes.
std::string kernel(const std::string &body, const std::string &target = "sm_90a") {
  return header(target) +
         ".visible .entry k(.param .u64 p)\n{\n  .reg .b64 %rd<8>;\n  .reg .b32 %r<12>;\n  .reg .f32 %f<8>;\n"
         "  .reg .b16 %h<12>;\n  .reg .b128 %q<4>;\n  .reg .pred %p<2>;\n  ld.param.u64 %rd0, [p];\n  " +
         body + "\n  st.global.u32 [%rd0], %r0;\n  ret;\n}\n";
}
std::vector<uint32_t> results(const std::string &body, std::vector<uint32_t> in = std::vector<uint32_t>(16)) {
  in.resize(16);
  DeviceArray<uint32_t> memory(in);
  EXPECT_EQ(run(kernel(body), {memory.address}, 1, 1), CUDA_SUCCESS) << body << lastReport();
  return memory.read();
}
uint32_t result(const std::string &body) {
  return results(body)[0];
}

TEST(EmulatorNarrow, ConvertsPairs) {
  Session session;
  const std::string pair = "mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0fC4000000;\n"; // 1, -512
  EXPECT_EQ(result(pair + "cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f2; cvt.u32.u16 %r0, %h0;"), 0x38feu);
  EXPECT_EQ(result(pair + "cvt.rn.satfinite.e5m2x2.f32 %h0, %f1, %f2; cvt.u32.u16 %r0, %h0;"), 0x3ce0u);
  EXPECT_EQ(result(pair + "cvt.rn.satfinite.relu.e4m3x2.f32 %h0, %f1, %f2; cvt.u32.u16 %r0, %h0;"), 0x3800u);
  EXPECT_EQ(result("mov.b32 %r1, 0x3c00fc00; cvt.rn.satfinite.e4m3x2.f16x2 %h0, %r1; cvt.u32.u16 %r0, %h0;"), 0x38feu);
  EXPECT_EQ(result("mov.b16 %h0, 0x38fe; cvt.rn.f16x2.e4m3x2 %r0, %h0;"), 0x3c00df00u);
  EXPECT_EQ(result("mov.b16 %h0, 0x7f01; cvt.rn.f16x2.e4m3x2 %r0, %h0;"), 0x7fff1800u);
  EXPECT_EQ(result("mov.b16 %h0, 0x3cfc; cvt.rn.f16x2.e5m2x2 %r0, %h0;"), 0x3c00fc00u);
  EXPECT_EQ(result("mov.b16 %h0, 0x38b8; cvt.rn.relu.f16x2.e4m3x2 %r0, %h0;"), 0x3c000000u);
  for (const char *body : {"cvt.rn.e4m3x2.f32 %h0, %f1, %f2;", "cvt.rz.satfinite.e4m3x2.f32 %h0, %f1, %f2;",
                           "cvt.rn.satfinite.f16x2.e4m3x2 %r0, %h0;", "cvt.rn.satfinite.e4m3x2.bf16x2 %h0, %r1;"})
    EXPECT_NE(ask(kernel(body)), CUDA_SUCCESS) << body;
}

TEST(EmulatorNarrow, PacksIntegers) {
  Session session;
  const std::string two = "mov.b32 %r1, 70000; mov.b32 %r2, -5; mov.b32 %r3, 0x12345678;\n";
  EXPECT_EQ(result(two + "cvt.pack.sat.u16.s32 %r0, %r1, %r2;"), 0xffff0000u);
  EXPECT_EQ(result(two + "cvt.pack.sat.s16.s32 %r0, %r1, %r2;"), 0x7ffffffbu);
  EXPECT_EQ(result(two + "cvt.pack.sat.u8.s32.b32 %r0, %r1, %r2, %r3;"), 0x5678ff00u);
  EXPECT_EQ(result(two + "cvt.pack.sat.s8.s32.b32 %r0, %r1, %r2, %r3;"), 0x56787ffbu);
  EXPECT_EQ(result(two + "cvt.pack.sat.s4.s32.b32 %r0, %r1, %r2, %r3;"), 0x3456787bu);
  EXPECT_EQ(result(two + "cvt.pack.sat.u2.s32.b32 %r0, %r1, %r2, %r3;"), 0x2345678cu);
}

TEST(EmulatorWide, MovesSixteenBytes) {
  Session session;
  std::vector<uint32_t> in = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<uint32_t> got = results("ld.global.b128 %q0, [%rd0]; st.global.b128 [%rd0+32], %q0;\n"
                                      "mov.b128 {%rd1, %rd2}, %q0; mov.b128 %q1, {%rd2, %rd1};\n"
                                      "atom.global.exch.b128 %q2, [%rd0+16], %q1; st.global.b128 [%rd0+48], %q2;\n"
                                      "mov.u32 %r0, 9;",
                                      in);
  EXPECT_EQ(got, (std::vector<uint32_t>{9, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 5, 6, 7, 8}));
  got = results("ld.global.b128 %q0, [%rd0]; ld.global.b128 %q1, [%rd0+16];\n"
                "atom.global.cas.b128 %q2, [%rd0+32], %q0, %q1;\n" // not equal: stays
                "atom.global.cas.b128 %q2, [%rd0+16], %q1, %q0; mov.u32 %r0, 1;",
                in);
  EXPECT_EQ(got, (std::vector<uint32_t>{1, 2, 3, 4, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0}));
  DeviceArray<uint32_t> memory(16);
  EXPECT_EQ(run(kernel("ld.global.b128 %q0, [%rd0+8]; mov.u32 %r0, 0;"), {memory.address}, 1, 1),
            CUDA_ERROR_MISALIGNED_ADDRESS);
  cuDevicePrimaryCtxReset(0);
}

TEST(EmulatorWide, AddsVectorsAtomically) {
  Session session;
  auto bits = [](float x) { return std::bit_cast<uint32_t>(x); };
  std::vector<uint32_t> got =
      results("mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000; mov.f32 %f3, 0f40400000; mov.f32 %f4, 0f40800000;\n"
              "atom.global.add.v4.f32 {%f5, %f6, _, _}, [%rd0+16], {%f1, %f2, %f3, %f4};\n"
              "red.global.add.v2.f32 [%rd0+32], {%f1, %f2}; st.global.f32 [%rd0+4], %f6; mov.u32 %r0, 0;",
              {0, 0, 0, 0, bits(10), bits(20), bits(30), bits(40), bits(1), bits(1)});
  EXPECT_EQ(got, (std::vector<uint32_t>{0, bits(20), 0, 0, bits(11), bits(22), bits(33), bits(44), bits(2), bits(3), 0,
                                        0, 0, 0, 0, 0}));
  got = results("mov.b32 %r1, 0x3c004000; mov.b32 %r2, 0x3f804000;\n"
                "red.global.add.noftz.v2.f16x2 [%rd0+16], {%r1, %r1};\n"
                "red.global.max.noftz.v2.bf16x2 [%rd0+24], {%r2, %r2};\nmov.u32 %r0, 0;",
                {0, 0, 0, 0, 0x40003c00, 0, 0x40003f80, 0});
  EXPECT_EQ(got[4], 0x42004200u);
  EXPECT_EQ(got[5], 0x3c004000u);
  EXPECT_EQ(got[6], 0x40004000u);
  EXPECT_EQ(got[7], 0x3f804000u);
  for (const char *body : {"red.global.add.v8.f32 [%rd0], {%f1, %f2, %f3, %f4, %f1, %f2, %f3, %f4};",
                           "red.global.min.v2.f32 [%rd0], {%f1, %f2};", "red.global.add.v2.f16x2 [%rd0], {%r1, %r2};",
                           "red.shared.add.v2.f32 [%rd0], {%f1, %f2};"})
    EXPECT_NE(ask(kernel(body)), CUDA_SUCCESS) << body;
}

TEST(EmulatorHints, AreCheckedAndChangeNothing) {
  Session session;
  const char *const taken[] = {"createpolicy.fractional.L2::evict_last.b64 %rd1, 0f3F800000;",
                               "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %rd1;",
                               "createpolicy.range.global.L2::evict_last.b64 %rd1, [%rd0], 16, 32;",
                               "applypriority.global.L2::evict_normal [%rd0], 128;",
                               "prefetch.global.L2::evict_last [%rd0];",
                               "prefetch.tensormap [%rd0];",
                               "fence.proxy.async;",
                               "fence.proxy.async.global;",
                               "fence.proxy.async.shared::cluster;",
                               "fence.proxy.alias;",
                               "fence.proxy.tensormap::generic.release.gpu;",
                               "fence.proxy.tensormap::generic.acquire.sys [%rd0], 128;",
                               "fence.acq_rel.cluster;",
                               "fence.mbarrier_init.release.cluster;",
                               "setmaxnreg.inc.sync.aligned.u32 240;",
                               "griddepcontrol.wait;",
                               "griddepcontrol.launch_dependents;"};
  for (const char *body : taken)
    EXPECT_EQ(results(std::string(body) + " mov.u32 %r0, 5;", {1, 2, 3})[1], 2u) << body;
  for (const char *body :
       {"setmaxnreg.inc.sync.aligned.u32 250;", "setmaxnreg.inc.sync.aligned.u32 %r1;", "discard.global.L2 [%rd0], 64;",
        "fence.acq_rel;", "fence.proxy.tensormap::generic.acquire.gpu;", "prefetch.tensormap.L2 [%rd0];",
        "createpolicy.fractional.b32 %r1;"})
    EXPECT_NE(ask(kernel(body)), CUDA_SUCCESS) << body;
}

} // namespace
} // namespace tenon::emulator::test
