// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The emulator's library, loaded at run time: TENON_EMULATOR_LIBRARY, or where a build or a bundle has it.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::benchmarks {

struct Case;

std::string ownFolder();

class Emulator {
public:
  Emulator();
  CUdeviceptr allocate(const void *data, size_t bytes) const;
  /// Launches and waits; a failure ends the program.
  void launch(CUfunction kernel, const Case &what) const;
  /// Thread instructions that ran so far.
  uint64_t threadInstructions() const { return threadInstructions_(); }

private:
  friend class Module;
  decltype(&::cuModuleLoadData) moduleLoadData_ = nullptr;
  decltype(&::cuModuleUnload) moduleUnload_ = nullptr;
  decltype(&::cuModuleGetFunction) moduleGetFunction_ = nullptr;
  decltype(&::cuMemAlloc) memAlloc_ = nullptr;
  decltype(&::cuMemcpyHtoD) copyToDevice_ = nullptr;
  decltype(&::cuLaunchKernel) launchKernel_ = nullptr;
  decltype(&::cuCtxSynchronize) synchronize_ = nullptr;
  uint64_t (*threadInstructions_)() = nullptr;
};

class Module {
public:
  Module(const Emulator &emulator, const std::string &ptx);
  ~Module();
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;
  CUfunction kernel(const std::string &name) const;

private:
  const Emulator &emulator_;
  CUmodule module_ = nullptr;
};

} // namespace tenon::benchmarks
