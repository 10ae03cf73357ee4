// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A CUDA driver made of host memory and records, for tests of what the runtime asks of a driver: which calls, in which
// order, and what it does when one fails. "Device" memory is host memory; kernels are functions of the test.
#pragma once

#include <array>
#include <cstdint>
#include <cuda.h>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test {

struct FakeLaunch {
  std::string kernel;
  std::array<unsigned, 3> grid, block;
  unsigned sharedBytes = 0;
  bool extended = false; // cuLaunchKernelEx
  unsigned attributes = 0;
  void **parameters = nullptr; // valid during the kernel function only

  template <typename T> T parameter(size_t index) const { return *static_cast<T *>(parameters[index]); }
};

struct FakeDriver {
  // What the driver answers.
  int deviceCount = 1, major = 8, minor = 0, version = 13000;
  std::string deviceName = "Fake GPU";
  int sharedBytes = 49152, sharedOptinBytes = 166912, threads = 1024;
  bool memoryPools = true;
  size_t memoryBytes = size_t(8) << 30;     // of one allocation
  float elapsedMilliseconds = 0;            // between any two events
  std::map<std::string, int> failures;      // function -> result of its next calls
  std::map<std::string, int> failuresLeft;  // function -> how many calls fail; absent: all
  int failAtCall = -1;                      // position in `calls` of the one call that runs out of memory
  std::map<std::string, int> refusedImages; // text within an image -> result of loading it
  std::string jitLog;                       // into the error log of a refused image
  std::map<std::string, std::vector<std::pair<size_t, size_t>>> parameters; // kernel -> {offset, size}
  std::map<std::string, std::vector<uint8_t>> globals;                      // of every module
  std::map<std::string, int> functionThreads, functionShared, functionRegisters;
  std::map<std::string, std::function<void(const FakeLaunch &)>> kernels;
  CUresult sticky = CUDA_SUCCESS; // a kernel sets it: every later synchronisation answers it

  // What it was asked.
  std::vector<std::string> calls;
  std::vector<FakeLaunch> launches;
  std::vector<std::string> loadedImages;
  std::map<std::string, int> dynamicSharedAttribute; // kernel -> bytes opted in to
  int liveAllocations = 0, liveModules = 0, liveStreams = 0, liveEvents = 0, liveRegistrations = 0, liveLinks = 0,
      livePools = 0;
  int liveHandles = 0, liveReservations = 0, liveMappings = 0; // of virtual memory
  int liveGraphs = 0;                                          // and their instances
  size_t graphNodes = 0, graphEdges = 0;
  CUstream capturing = nullptr; // this stream is being captured
  bool isCaptureBroken = false; // something was done meanwhile that the driver forbids
  CUstreamCaptureMode captureMode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  int insideDriver = 0; // a function of the driver is running
  int retained = 0, contextDepth = 0;

  size_t count(const std::string &function) const {
    size_t n = 0;
    for (const std::string &call : calls)
      n += call == function;
    return n;
  }
};

} // namespace tenon::test

/// The state of the loaded library.
extern "C" tenon::test::FakeDriver *tenonFakeDriver();
