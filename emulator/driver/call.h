// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first line of every exported function. It takes the lock, counts the call for TENON_EMULATOR_FAIL, and returns an
// error where the call cannot go on: TENON_CALL needs nothing, TENON_ENTER an initialised driver, TENON_ENTER_CONTEXT a
// current context whose kernels have not failed.
#pragma once

#include "emulator/driver/context.h"
#include "emulator/driver/driver.h"

#include <mutex>

namespace tenon::emulator {

/// One call of an exported function: holds the lock, and is counted when the program, not the driver, made it.
class DriverCall {
public:
  DriverCall(Driver &driver, const char *function);
  ~DriverCall() { --driver_.lock.depth; }
  DriverCall(const DriverCall &) = delete;
  DriverCall &operator=(const DriverCall &) = delete;
  /// What the call has to fail with, or CUDA_SUCCESS.
  CUresult injected() const { return injected_; }

private:
  std::lock_guard<std::recursive_mutex> lock_;
  Driver &driver_;
  CUresult injected_ = CUDA_SUCCESS;
};

} // namespace tenon::emulator

// A lock that another thread held when the process forked is held for ever in the child: it is not even asked for.
#define TENON_CALL()                                                                                                   \
  if (::tenon::emulator::forkedFlag())                                                                                 \
    return CUDA_ERROR_NOT_INITIALIZED;                                                                                 \
  [[maybe_unused]] ::tenon::emulator::Driver &driver = ::tenon::emulator::driver();                                    \
  ::tenon::emulator::DriverCall driverCall(driver, __func__);                                                          \
  if (driverCall.injected() != CUDA_SUCCESS)                                                                           \
  return driverCall.injected()

#define TENON_ENTER()                                                                                                  \
  TENON_CALL();                                                                                                        \
  if (::tenon::emulator::OperationQueue::inHostFunction())                                                             \
    return CUDA_ERROR_NOT_PERMITTED;                                                                                   \
  if (!driver.initialised)                                                                                             \
  return CUDA_ERROR_NOT_INITIALIZED

#define TENON_ENTER_CONTEXT()                                                                                          \
  TENON_ENTER();                                                                                                       \
  ::tenon::emulator::Context *context = ::tenon::emulator::currentContext();                                           \
  if (!context)                                                                                                        \
    return ::tenon::emulator::contextStack().empty() ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_CONTEXT_IS_DESTROYED;   \
  if (context->sticky)                                                                                                 \
  return static_cast<CUresult>(context->sticky)
