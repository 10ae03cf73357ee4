// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a cubin says of its kernels. The sections `.nv.info` and `.nv.info.<kernel>` are a list of attributes that the
// driver reads; NVIDIA does not document them. What is read here was seen in the output of ptxas 11 to 13, so it serves
// as a second opinion beside PTX, and alone only where there is no PTX (K-17, K-18).
#pragma once

#include "abi/target_arch.h"
#include "support/result.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tenon::linker {

struct CubinParameter {
  uint32_t offset = 0; // bytes from the first parameter
  uint32_t size = 0;
  bool known = false;
};

struct CubinKernel {
  std::string_view name;
  bool isEntry = false;                   // marked as one, local or not: the driver finds it by name
  std::vector<CubinParameter> parameters; // by ordinal
  uint32_t parameterBase = 0;             // where they begin in the constant bank; alignments count from there
  std::optional<uint32_t> parameterBytes; // all of them, from the first to the end of the last
  std::optional<std::array<uint32_t, 3>> requiredThreads, maxThreads;
  uint32_t registers = 0;
  uint32_t staticSharedBytes = 0;
  uint32_t stackBytes = 0; // local memory of one thread, spilled registers among it
};

struct Cubin {
  uint16_t archNumber = 0;          // 90; the suffix of sm_90a does not show
  std::vector<CubinKernel> kernels; // in the order of their sections

  const CubinKernel *findKernel(std::string_view name) const;
};

/// Reads a cubin; `bytes` is borrowed. DataLoss: damaged. Unimplemented: an ELF file that is not for CUDA, or one that
/// must still be linked (nvcc -rdc=true).
Result<Cubin> readCubin(std::string_view bytes);

} // namespace tenon::linker
