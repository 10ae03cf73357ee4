// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the files of the fake driver share.
#pragma once

#include "tests/unit/runtime/fake_driver.h"

#include <mutex>
#include <set>

#define FAKE extern "C" __attribute__((visibility("default")))

namespace tenon::test {

FakeDriver &fake();
std::mutex &mutex();
/// Records a call; the failure that the test asked for, or success.
CUresult enter(const char *function);
/// Runs the test's function of that name, and records the launch.
CUresult launch(FakeLaunch launch, CUfunction function, void **parameters);
const std::string &kernelName(CUfunction function);

/// Something that is given back. Where that is told to fail it stays, and its counter with it: a leak, which is the
/// test's doing. A sanitizer finds it here.
class GiveBack {
public:
  explicit GiveBack(void *given) : given_(given) {}
  ~GiveBack() {
    if (given_)
      kept().insert(given_);
  }
  void done() {
    kept().erase(given_);
    given_ = nullptr;
  }

private:
  static std::set<void *> &kept() {
    static auto *all = new std::set<void *>;
    return *all;
  }
  void *given_;
};

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
