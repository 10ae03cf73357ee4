// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/emulator/harness.h"

namespace tenon::emulator::test {
namespace {

const std::string kCopy = header() + R"(
.visible .entry k(.param .u64 from, .param .u64 to)
{
  .reg .b64 %rd<6>;
  .reg .b32 %r<5>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r1, %r1, %r2, %r3;
  mul.wide.s32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.u32 %r4, [%rd4];
  st.global.u32 [%rd5], %r4;
  ret;
}
)";

TEST(EmulatorLaunch, RunsBlocksThatEndInsideAWarp) {
  Session session;
  std::vector<uint32_t> values(3 * 40);
  for (size_t k = 0; k < values.size(); ++k)
    values[k] = static_cast<uint32_t>(k * k);
  DeviceArray<uint32_t> from(values), to(values.size());
  ASSERT_EQ(run(kCopy, {from.address, to.address}, 3, 40), CUDA_SUCCESS);
  EXPECT_EQ(to.read(), values);
}

TEST(EmulatorLaunch, ReportsAnAccessPastTheEnd) {
  Session session;
  DeviceArray<uint32_t> from(64), to(60);
  EXPECT_EQ(run(kCopy, {from.address, to.address}, 2, 32), CUDA_ERROR_ILLEGAL_ADDRESS);
  std::string report = lastReport();
  EXPECT_NE(report.find("kernel 'k', thread (28,0,0) of block (1,0,0): out-of-bounds global write of 4 bytes at 0x"),
            std::string::npos)
      << report;
  EXPECT_NE(report.find("0 bytes past the end of the 240-byte allocation"), std::string::npos) << report;
  EXPECT_NE(report.find("st.global.u32 [%rd5], %r4"), std::string::npos) << report;
  EXPECT_NE(report.find(":19:3:"), std::string::npos) << report;
  // The error stays until the context is reset.
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CUcontext again;
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&again, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(again), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

} // namespace
} // namespace tenon::emulator::test
