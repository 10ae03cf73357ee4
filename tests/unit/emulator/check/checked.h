// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels under every check, and what is reported of them.
#pragma once

#include "tests/unit/emulator/harness.h"

namespace tenon::emulator::test {

struct Checked : ::testing::Test {
  static void SetUpTestSuite() { setenv("TENON_EMULATOR_CHECK", "all", 1); } // before the first cuInit
  Session session;
  void SetUp() override {
    if (cuCtxSynchronize() != CUDA_SUCCESS) // the test before it failed a kernel
      revive();
  }
  /// The report of a kernel that has to fail; its body uses %rd<>, %r<>, %p<>, parameters %rd0 and %rd1, thread %r0.
  static std::string kernel(const std::string &body, const std::string &shared = {}) {
    return header("sm_80") + shared +
           ".visible .entry k(.param .u64 a, .param .u64 b)\n{\n.reg .b64 %rd<9>;\n.reg .b32 %r<9>;\n.reg .pred "
           "%p<5>;\n"
           "ld.param.u64 %rd0, [a];\nld.param.u64 %rd1, [b];\nmov.u32 %r0, %tid.x;\n" +
           body + "ret;\n}\n";
  }
  static std::string failure(const std::string &body, const std::vector<CUdeviceptr> &pointers,
                             const std::string &shared = {}, unsigned blocks = 1, unsigned threads = 64) {
    CUresult result = run(kernel(body, shared), pointers, blocks, threads);
    return result == CUDA_SUCCESS ? "(none)" : lastReport();
  }
  /// After a fault: a fresh context for the session.
  static void revive() {
    CUcontext context;
    EXPECT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  }
  /// The same with 4 KiB of zeros for each pointer; the context works again behind it, empty.
  static std::string report(const std::string &body, const std::string &shared = {}, unsigned blocks = 1,
                            unsigned threads = 64) {
    std::vector<CUdeviceptr> scratch(2);
    for (CUdeviceptr &pointer : scratch) {
      EXPECT_EQ(cuMemAlloc(&pointer, 4096), CUDA_SUCCESS);
      EXPECT_EQ(cuMemsetD8(pointer, 0, 4096), CUDA_SUCCESS);
    }
    const std::string text = failure(body, scratch, shared, blocks, threads);
    if (text == "(none)")
      for (CUdeviceptr pointer : scratch)
        cuMemFree(pointer);
    else
      revive();
    return text;
  }
  static void expectNothing(const std::string &body, const std::string &shared = {}, unsigned blocks = 1,
                            unsigned threads = 64) {
    EXPECT_EQ(report(body, shared, blocks, threads), "(none)");
  }
  static void expectClean(const std::string &body, const std::vector<CUdeviceptr> &pointers,
                          const std::string &shared = {}, unsigned blocks = 1, unsigned threads = 64) {
    CUresult result = run(kernel(body, shared), pointers, blocks, threads);
    EXPECT_EQ(result, CUDA_SUCCESS) << (result == CUDA_SUCCESS ? "" : lastReport());
  }
};
inline bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}
#define EXPECT_HAS(text, part) EXPECT_TRUE(has(text, part)) << text

} // namespace tenon::emulator::test
