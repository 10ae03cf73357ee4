// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma from PTX: what is refused, what is reported, and what accumulators hold before wgmma.wait_group when copies run
// late. The numbers are compared in tests/kernels/wgmma_test.cpp.
#include "tests/unit/emulator/harness.h"

#include <cmath>

namespace tenon::emulator::test {
namespace {

/// A warpgroup; tiles of zeros and ones at `a` and `b`: A is all ones (1.0 in f16), B twos.
std::string kernel(const std::string &body, const std::string &target = "sm_90a") {
  return header(target) +
         ".shared .align 1024 .b8 tiles[4096];\n.visible .entry k(.param .u64 p)\n{\n  .reg .b64 %rd<8>, %da, %db;\n"
         "  .reg .b32 %r<8>, %t, %s;\n  .reg .f32 %f<8>;\n  .reg .b32 %q<4>;\n  .reg .pred %on, %off, %p0;\n"
         "  ld.param.u64 %rd0, [p];\n  mov.u32 %t, %tid.x;\n  mov.u32 %s, tiles;\n  shl.b32 %r1, %t, 4;\n"
         "  add.u32 %r1, %r1, %s;\n  st.shared.v4.b32 [%r1], {0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00};\n"
         "  st.shared.v4.b32 [%r1+2048], {0x40004000, 0x40004000, 0x40004000, 0x40004000};\n  bar.sync 0;\n"
         "  setp.eq.u32 %on, 0, 0;\n  setp.ne.u32 %off, 0, 0;\n  and.b32 %r2, %s, 0x3ffff;\n  shr.u32 %r2, %r2, 4;\n"
         // No swizzle: halves of K 128 bytes apart, groups of eight rows 256.
         "  cvt.u64.u32 %da, %r2;\n  or.b64 %da, %da, 0x1000080000;\n  add.u64 %db, %da, 128;\n"
         "  mov.f32 %f0, 0f3F800000;\n  mov.f32 %f1, %f0;\n  mov.f32 %f2, %f0;\n  mov.f32 %f3, %f0;\n"
         "  mov.f32 %f4, 0f00000000;\n  " +
         body + "\n  mul.wide.u32 %rd1, %t, 4;\n  add.u64 %rd1, %rd1, %rd0;\n  st.global.f32 [%rd1], %f4;\n  ret;\n}\n";
}
const std::string kMultiply = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %da, %db, ";
const std::string kFence = "wgmma.fence.sync.aligned;\n", kCommit = "wgmma.commit_group.sync.aligned;\n";
const std::string kWait = "wgmma.wait_group.sync.aligned 0;\n";

float result(const std::string &body) {
  DeviceArray<float> out(128);
  EXPECT_EQ(run(kernel(body), {out.address}, 1, 128), CUDA_SUCCESS) << body << lastReport();
  std::vector<float> got = out.read();
  for (float value : got)
    EXPECT_TRUE(value == got[0] || value != value) << body;
  return got[0];
}

TEST(EmulatorWgmma, ScalesAndAccumulates) {
  Session session;
  const std::string end = kCommit + kWait + "mov.f32 %f4, %f3;";
  EXPECT_EQ(result(kFence + kMultiply + "%off, 1, 1, 0, 0;\n" + end), 32.0f);
  EXPECT_EQ(result(kFence + kMultiply + "%on, 1, 1, 0, 0;\n" + end), 33.0f);
  EXPECT_EQ(result(kFence + kMultiply + "!%off, -1, 1, 0, 0;\n" + end), -31.0f);
  EXPECT_EQ(result(kFence + kMultiply + "%on, -1, -1, 0, 0;\n" + kMultiply + "%on, 1, 1, 0, 0;\n" + end), 65.0f);
  EXPECT_EQ(result(kFence +
                   "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %da, %db, %off, 1, "
                   "1, 0, 0;\n" +
                   end),
            16 * 0x1.0p0f * 0.0078125f * 2.0f);
}

TEST(EmulatorWgmma, RefusesWhatTheIsaDoesNotKnow) {
  Session session;
  for (const char *body :
       {"wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %da, %db, %on, 1, 1, 0, 0;",
        "wgmma.mma_async.sync.aligned.m64n8k8.f32.f16.f16 {%f0, %f1, %f2, %f3}, %da, %db, %on, 1, 1, 0, 0;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16 {%f0, %f1, %f2, %f3}, %da, %db, %on, 1, 1, 0, 0;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1}, %da, %db, %on, 1, 1, 0, 0;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %da, %db, %on, 2, 1, 0, 0;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %da, %db, %on, 1, 1, 0;",
        "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f0, %f1, %f2, %f3}, %da, %db, %on, 1, 1, 0, 0;",
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f0, %f1, %f2, %f3}, %da, %db, %r1, 0, %on, 1, 1, 0, 0;",
        "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%q0, %q1, %q2, %q3}, %da, %db, %on;",
        "wgmma.wait_group.sync.aligned 8;"})
    EXPECT_NE(ask(kernel(body)), CUDA_SUCCESS) << body;
  // Only sm_90a has it.
  EXPECT_NE(ask(kernel(kFence, "sm_90")), CUDA_SUCCESS);
}

TEST(EmulatorWgmma, ReportsDescriptorsThatLeaveSharedMemory) {
  Session session;
  DeviceArray<float> out(128);
  EXPECT_EQ(run(kernel("add.u64 %db, %db, 120;\n" + kMultiply + "%on, 1, 1, 0, 0;"), {out.address}, 1, 128),
            CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(lastReport().find("the descriptor of B leads to"), std::string::npos) << lastReport();
  cuDevicePrimaryCtxReset(0);
}

TEST(EmulatorStmatrix, StoresWhatLdmatrixLoads) {
  Session session;
  // Lane l holds 2 l and 2 l + 1; the rows of the matrix are the numbers in order, or its columns.
  for (bool transposed : {false, true}) {
    std::string trans = transposed ? ".trans" : "";
    DeviceArray<uint32_t> out(128);
    std::string body = "and.b32 %r3, %t, 31; shl.b32 %r4, %r3, 1; shl.b32 %r5, %r4, 16; add.u32 %r5, %r5, %r4;\n"
                       "add.u32 %r5, %r5, 0x10000; and.b32 %r6, %r3, 7; shl.b32 %r6, %r6, 4; add.u32 %r6, %r6, %s;\n"
                       "setp.lt.u32 %p0, %t, 32;\n@!%p0 bra E;\nstmatrix.sync.aligned.m8n8.x1" +
                       trans + ".shared.b16 [%r6], {%r5};\nldmatrix.sync.aligned.m8n8.x1" + trans +
                       ".shared.b16 {%q0}, [%r6];\nshl.b32 %r4, %r3, 2; add.u32 %r4, %r4, %s;\n"
                       "ld.shared.u32 %q1, [%r4];\nsetp.ne.u32 %p0, %q0, %r5; selp.u32 %q1, 0, %q1, %p0;\n"
                       "mov.b32 %f4, %q1;\nE:";
    ASSERT_EQ(run(kernel(body), {out.address}, 1, 128), CUDA_SUCCESS) << lastReport();
    std::vector<uint32_t> got = out.read();
    for (uint32_t l = 0; l < 32; ++l) {
      uint32_t row = l / 4, column = l % 4 * 2;
      EXPECT_EQ(got[l], transposed ? (column * 8 + row) | (column * 8 + 8 + row) << 16
                                   : (row * 8 + column) | (row * 8 + column + 1) << 16)
          << l;
    }
  }
}

TEST(EmulatorWgmmaLate, ShowsAccumulatorsReadTooEarly) {
  if (!getenv("TENON_EMULATOR_CHECK"))
    GTEST_SKIP() << "runs with TENON_EMULATOR_CHECK=async, as the test unit-emulator-async does";
  Session session;
  const std::string multiply = kFence + kMultiply + "%on, 1, 1, 0, 0;\n";
  EXPECT_EQ(result(multiply + kMultiply + "%on, 1, 1, 0, 0;\n" + kCommit + kWait + "mov.f32 %f4, %f3;"), 65.0f);
  EXPECT_TRUE(std::isnan(result(multiply + kCommit + "mov.f32 %f4, %f3;\n" + kWait)));
  // One group may stay: the second is not done, and neither are the accumulators that it shares.
  EXPECT_TRUE(std::isnan(result(multiply + kCommit + kMultiply + "%on, 1, 1, 0, 0;\n" + kCommit +
                                "wgmma.wait_group.sync.aligned 1;\nmov.f32 %f4, %f3;\n" + kWait)));
  EXPECT_EQ(result(multiply + kCommit + kMultiply + "%on, 1, 1, 0, 0;\n" + kCommit +
                   "wgmma.wait_group.sync.aligned 1;\n" + kWait + "mov.f32 %f4, %f3;\n"),
            65.0f);
  // The tile is overwritten before the multiplication read it.
  const std::string overwrite = "bar.sync 0;\nst.shared.v4.b32 [%r1], {0, 0, 0, 0};\nbar.sync 0;\n";
  EXPECT_EQ(result(multiply + kCommit + overwrite + kWait + "mov.f32 %f4, %f3;"), 1.0f);
}

} // namespace
} // namespace tenon::emulator::test
