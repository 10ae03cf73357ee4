// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the files of the fake driver share.
#pragma once

#include "tests/unit/runtime/fake_driver.h"

#include <mutex>

#define FAKE extern "C" __attribute__((visibility("default")))

namespace tenon::test {

FakeDriver &fake();
std::mutex &mutex();
/// Records a call; the failure that the test asked for, or success.
CUresult enter(const char *function);
/// Runs the test's function of that name, and records the launch.
CUresult launch(FakeLaunch launch, CUfunction function, void **parameters);
const std::string &kernelName(CUfunction function);

/// What the fake allocates meanwhile is not the runtime's.
struct InsideDriver {
  InsideDriver() { ++fake().insideDriver; }
  ~InsideDriver() { --fake().insideDriver; }
};

} // namespace tenon::test

// One call at a time, kernels included: the runtime may call from several threads.
#define ENTER()                                                                                                        \
  std::lock_guard lock(tenon::test::mutex());                                                                          \
  tenon::test::InsideDriver inside;                                                                                    \
  if (CUresult result = tenon::test::enter(__func__); result != CUDA_SUCCESS)                                          \
  return result
