// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wmma: which forms exist, what every lane must agree on, bounds. The products are in tests/kernels/tensor_test.cpp.
#include "emulator/matrix/wmma.h"
#include "tests/unit/emulator/harness.h"

namespace tenon::emulator::test {
namespace {

using ptx::ScalarType;

TEST(EmulatorWmma, FragmentsHaveTheSizesOfThePtxTables) {
  struct Case {
    FragmentUse use;
    uint32_t m, n, k;
    ScalarType element;
    uint32_t registers;
  };
  constexpr auto kA = FragmentUse::A, kB = FragmentUse::B, kC = FragmentUse::Accumulator;
  for (const Case &c : {Case{kA, 16, 16, 16, ScalarType::F16, 8}, Case{kB, 8, 32, 16, ScalarType::F16, 8},
                        Case{kC, 32, 8, 16, ScalarType::F16, 4}, Case{kC, 16, 16, 16, ScalarType::F32, 8},
                        Case{kA, 16, 16, 16, ScalarType::BF16, 4}, Case{kA, 8, 32, 16, ScalarType::BF16, 2},
                        Case{kB, 8, 32, 16, ScalarType::BF16, 8}, Case{kA, 32, 8, 16, ScalarType::S8, 4},
                        Case{kB, 32, 8, 16, ScalarType::U8, 1}, Case{kA, 16, 16, 16, ScalarType::U8, 2},
                        Case{kC, 8, 32, 16, ScalarType::S32, 8}, Case{kA, 16, 16, 8, ScalarType::TF32, 4},
                        Case{kC, 16, 16, 8, ScalarType::F32, 8}, Case{kA, 8, 8, 4, ScalarType::F64, 1},
                        Case{kC, 8, 8, 4, ScalarType::F64, 2}}) {
    auto found = findFragment(c.use, c.m, c.n, c.k, c.element);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->registers, c.registers) << c.m << "x" << c.n << "x" << c.k;
  }
  EXPECT_FALSE(findFragment(kA, 16, 16, 8, ScalarType::F16));
  EXPECT_FALSE(findFragment(kA, 16, 16, 16, ScalarType::TF32));
  EXPECT_FALSE(findFragment(kC, 16, 16, 16, ScalarType::S8));
  EXPECT_FALSE(findFragment(kA, 16, 16, 16, ScalarType::F32));
}

std::string kernel(const std::string &body) {
  return header("sm_80") +
         ".visible .entry k(.param .u64 p)\n{\n  .reg .b64 %rd<4>;\n  .reg .b32 %r<16>;\n"
         "  .reg .f32 %f<16>;\n  ld.param.u64 %rd0, [p];\n  cvta.to.global.u64 %rd0, %rd0;\n"
         "  mov.u32 %r9, %laneid;\n  " +
         body + "\n  ret;\n}\n";
}
const char *const kLoad =
    "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%rd0], ";

TEST(EmulatorWmma, ChecksBoundsAndAgreement) {
  struct Case {
    std::string body;
    CUresult code;
    const char *text;
  };
  const Case cases[] = {
      {std::string(kLoad) + "17;", CUDA_ERROR_ILLEGAL_ADDRESS, "out-of-bounds global read of 4 bytes"},
      {std::string(kLoad) + "%r9;", CUDA_ERROR_ILLEGAL_INSTRUCTION,
       "wmma with another address or stride than the warp's first lane"},
  };
  for (const Case &c : cases) {
    Session session;
    DeviceArray<float> memory(256);
    EXPECT_EQ(run(kernel(c.body), {memory.address}), c.code) << c.body;
    EXPECT_NE(lastReport().find(c.text), std::string::npos) << lastReport();
    EXPECT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
    CUcontext context;
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  }
  // Packed by default, and exactly in bounds.
  Session session;
  DeviceArray<float> memory(256);
  std::string packed = kLoad;
  packed.replace(packed.rfind(", "), 2, ";");
  EXPECT_EQ(run(kernel(packed + kLoad + "16;"), {memory.address}), CUDA_SUCCESS) << lastReport();
}

TEST(EmulatorWmma, RefusesOtherForms) {
  Session session;
  for (const char *body : {"wmma.load.a.sync.aligned.row.m8n8k32.global.s4 {%r0}, [%rd0], 32;",
                           "wmma.load.c.sync.aligned.row.m16n16k16.global.s8 {%r0, %r1}, [%rd0], 16;",
                           "wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r0,%r1}, {%r2}, {%r3}, "
                           "{%r0,%r1};"}) {
    const std::string why = refusal(kernel(body));
    EXPECT_NE(why.find("the emulator does not support 'wmma."), std::string::npos) << why;
  }
}

} // namespace
} // namespace tenon::emulator::test
