// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is measured: kernels of kernels.cu with their shapes and arguments.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::benchmarks {

class Emulator;

/// Device memory that all cases share; results overwrite `out`.
struct Buffers {
  explicit Buffers(const Emulator &emulator);
  static constexpr size_t kCount = 1 << 23;
  CUdeviceptr floats = 0, moreFloats = 0, doubles = 0, halves = 0, integers = 0, moreIntegers = 0, bytes = 0, out = 0;
};

struct Case {
  std::string group; // "kernel": the table of kernels; "growth": one of them at several sizes; "scaling": long ones
  std::string name, shape, kernel;
  unsigned grid[2] = {1, 1}, block[2] = {1, 1};
  unsigned shared = 0;
  std::vector<uint64_t> arguments; // little endian: the first bytes are those of the parameter
};

std::vector<Case> cases(const Buffers &buffers);
/// One warp that copies 32 floats.
Case smallLaunch(const Buffers &buffers);

} // namespace tenon::benchmarks
