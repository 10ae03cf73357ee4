// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TENON_EMULATOR_FAIL: what it says is read once per process, so each plan needs a process of its own.
#include "tests/unit/emulator/harness.h"

namespace tenon::emulator::test {
namespace {

struct Function {
  const char *name;
  void *address;
};
/// All exported functions, asked without counting as calls of the driver.
std::vector<Function> functions() {
  void *at = nullptr;
  cuGetProcAddress("tenonEmulatorFunctionAt", &at, 13000, 0, nullptr);
  std::vector<Function> all;
  Function function;
  while (reinterpret_cast<bool (*)(size_t, const char **, void **)>(at)(all.size(), &function.name, &function.address))
    all.push_back(function);
  return all;
}

/// Calls a function of any signature with zeros: it has to fail before it looks at them.
__attribute__((no_sanitize("function"))) CUresult callWithZeros(void *address) {
  using Any = CUresult (*)(size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t);
  return reinterpret_cast<Any>(address)(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

/// Runs `body` in a process whose plan is `plan`, and wants it to be true.
#define WITH_PLAN(plan, body, said)                                                                                    \
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";                                                              \
  EXPECT_EXIT(                                                                                                         \
      {                                                                                                                \
        setenv("TENON_EMULATOR_FAIL", plan, 1);                                                                        \
        unsetenv("TENON_EMULATOR_QUIET");                                                                              \
        _exit((body) ? 0 : 1);                                                                                         \
      },                                                                                                               \
      ::testing::ExitedWithCode(0), said)

bool ready() {
  CUcontext context;
  return cuInit(0) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS &&
         cuCtxPushCurrent(context) == CUDA_SUCCESS;
}
std::vector<CUresult> allocations(size_t count) {
  std::vector<CUresult> results;
  for (size_t k = 0; k < count; ++k) {
    CUdeviceptr address;
    results.push_back(cuMemAlloc(&address, 16));
  }
  return results;
}
using Results = std::vector<CUresult>;

TEST(EmulatorFailurePlan, FailsTheCallThatItNames) {
  const CUresult kMemory = CUDA_ERROR_OUT_OF_MEMORY;
  WITH_PLAN("cuMemAlloc:3", ready() && allocations(4) == (Results{CUDA_SUCCESS, CUDA_SUCCESS, kMemory, CUDA_SUCCESS}),
            "TENON_EMULATOR_FAIL: call 3 of cuMemAlloc fails with CUDA_ERROR_OUT_OF_MEMORY");
  WITH_PLAN("cuMemAlloc", ready() && allocations(2) == (Results{kMemory, CUDA_SUCCESS}), "call 1 of cuMemAlloc");
  WITH_PLAN("cuMemAlloc_v2:all=CUDA_ERROR_ILLEGAL_ADDRESS",
            ready() && allocations(2) == (Results{CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS}),
            "call 2 of cuMemAlloc fails with CUDA_ERROR_ILLEGAL_ADDRESS");
  WITH_PLAN("cuCtxSynchronize:1=719,cuMemAlloc:2",
            ready() && allocations(2) == (Results{CUDA_SUCCESS, kMemory}) &&
                cuCtxSynchronize() == CUDA_ERROR_LAUNCH_FAILED && cuCtxSynchronize() == CUDA_SUCCESS,
            "");
  WITH_PLAN("cuStreamSynchronize:1", ready() && cuStreamSynchronize(nullptr) == CUDA_ERROR_UNKNOWN, "");
}

TEST(EmulatorFailurePlan, CountsCallsOfTheProgramOnly) {
  // cuStreamCreate is cuStreamCreateWithPriority inside.
  CUstream stream;
  WITH_PLAN("cuStreamCreateWithPriority:all", ready() && cuStreamCreate(&stream, 0) == CUDA_SUCCESS, "");
  // Every call, whichever it is: the fourth is the one after cuInit, retain and push.
  WITH_PLAN("*:4", ready() && allocations(2) == (Results{CUDA_ERROR_OUT_OF_MEMORY, CUDA_SUCCESS}), "");
}

TEST(EmulatorFailurePlan, ReachesEveryFunction) {
  auto allFail = [] {
    bool all = true;
    for (const Function &function : functions())
      if (CUresult result = callWithZeros(function.address); result != CUDA_ERROR_ECC_UNCORRECTABLE) {
        fprintf(stderr, "%s gave %d\n", function.name, static_cast<int>(result));
        all = false;
      }
    return all;
  };
  ASSERT_GT(functions().size(), 100u);
  WITH_PLAN("*:all=214", allFail(), "");
  // And under its own name.
  auto eachByName = [] {
    std::string plan;
    for (const Function &function : functions())
      plan += (plan.empty() ? "" : ",") + std::string(function.name) + ":1=214";
    setenv("TENON_EMULATOR_FAIL", plan.c_str(), 1);
    bool all = true;
    for (const Function &function : functions())
      if (CUresult result = callWithZeros(function.address); result != CUDA_ERROR_ECC_UNCORRECTABLE) {
        fprintf(stderr, "%s gave %d\n", function.name, static_cast<int>(result));
        all = false;
      }
    return all;
  };
  WITH_PLAN("", eachByName(), "");
}

TEST(EmulatorFailurePlan, RefusesWhatItDoesNotUnderstand) {
  auto refused = [] { return cuInit(0) == CUDA_ERROR_INVALID_VALUE; };
  WITH_PLAN(
      "cuMemAloc:3", refused(),
      "TENON_EMULATOR_FAIL: 'cuMemAloc:3': the emulator has no driver function 'cuMemAloc'; near it: 'cuMemAlloc'");
  WITH_PLAN("cuMemAlloc:0", refused(), "'cuMemAlloc:0': '0' is not a call; wanted a number from 1, or 'all'");
  WITH_PLAN("cuMemAlloc:x", refused(), "'x' is not a call");
  WITH_PLAN("cuMemAlloc:1=CUDA_OOPS", refused(), "'CUDA_OOPS' is not an error; wanted a CUresult");
  WITH_PLAN("cuMemAlloc:1,", refused(), "'': the emulator has no driver function ''");
}

} // namespace
} // namespace tenon::emulator::test
