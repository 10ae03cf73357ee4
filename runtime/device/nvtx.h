// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ranges for NVIDIA's tools (Nsight Systems and others), named as users know the work: "call mixed_invocation",
// "simple_mul". A tool that is attached ties what the host gives to the driver within a range to what the device does.
//
// NVTX is a set of headers: the first use looks for a tool in the process (NVTX_INJECTION64_PATH) and without one does
// nothing more. A build without the headers has nvtx_absent.cpp, in which no tool is ever attached.
#pragma once

#include <string_view>

namespace tenon::runtime {

/// Whether a tool wants ranges; asked once per process. Names need not be made up where it does not.
bool isNvtxAttached();

/// From here to the end of the scope, on this thread. Ranges nest.
class NvtxRange {
public:
  /// "what name", or `name` alone where `what` is empty.
  NvtxRange(std::string_view what, std::string_view name);
  ~NvtxRange();
  NvtxRange(const NvtxRange &) = delete;
  NvtxRange &operator=(const NvtxRange &) = delete;

private:
  bool isOpen_ = false;
};

} // namespace tenon::runtime
