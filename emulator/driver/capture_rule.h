// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a stream capture forbids. While a stream captures, calls that would wait for a device or change its memory at
// once are refused, in the threads that the mode of the capture names, and make the capture invalid. Every room asks;
// what a capture does with the work of its streams is in work/capture.h.
#pragma once

#include <cuda.h>

#include <set>
#include <thread>

namespace tenon::emulator {

struct Context;

struct CaptureRule {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread; // that began the capture
  Context *context = nullptr;
  bool invalid = false;
};

/// The calling thread's mode (cuThreadExchangeStreamCaptureMode).
CUstreamCaptureMode &threadCaptureMode();
/// A call that could disturb one of these captures: CUDA_SUCCESS or what it has to return.
CUresult unsafeCall(const std::set<CaptureRule *> &captures);

} // namespace tenon::emulator

#define TENON_UNSAFE_CALL()                                                                                            \
  if (CUresult prohibited = ::tenon::emulator::unsafeCall(driver.captures); prohibited != CUDA_SUCCESS)                \
  return prohibited
