// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that fail. A GPU's context does not survive it and neither does the process's use of the device, so each test
// runs in a child process, where the driver is first loaded.
#include "tests/kernels/driver.h"

#include <sys/wait.h>

namespace tenon::kernels {
namespace {

/// Runs `body` in a fresh process of this binary; it exits with what `body` returns.
class FaultKernels : public ::testing::Test {};

constexpr int kSkipped = 250;

/// Launches `kernel` of calls.cu with one int in a block of `threads`; the process exits with the CUresult, less 500.
[[noreturn]] void launchAndExit(const char *kernel, unsigned threads, int argument) {
  if (!driver().error.empty())
    _exit(kSkipped);
  for (int arch : {90, 80, 75}) {
    const char *folder = getenv("TENON_KERNELS_DIR");
    std::ifstream in(std::string(folder ? folder : ownFolder()) + "/calls_sm_" + std::to_string(arch) + ".ptx");
    if (arch > driver().capability || !in)
      continue;
    std::stringstream text;
    text << in.rdbuf();
    CUmodule module;
    CUfunction function;
    if (driver().cuModuleLoadData_(&module, text.str().c_str()) != CUDA_SUCCESS ||
        driver().cuModuleGetFunction_(&function, module, kernel) != CUDA_SUCCESS)
      _exit(1);
    void *parameters[] = {&argument};
    CUresult result = driver().cuLaunchKernel_(function, 1, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr);
    result = result == CUDA_SUCCESS ? driver().cuCtxSynchronize_() : result;
    _exit(result == CUDA_SUCCESS ? 0 : static_cast<int>(result) - 500);
  }
  _exit(kSkipped);
}

TEST_F(FaultKernels, Assert) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      launchAndExit("asserts", 33, 32),
      [](int status) {
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        return code == CUDA_ERROR_ASSERT - 500 || code == kSkipped;
      },
      "");
}

} // namespace
} // namespace tenon::kernels
