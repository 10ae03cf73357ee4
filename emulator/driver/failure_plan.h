// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Failures on request, so that a program's error paths can be walked: TENON_EMULATOR_FAIL=cuMemAlloc:3 makes the third
// cuMemAlloc of the process fail. Every exported function enters through DriverCall (TENON_CALL in call.h), which
// counts it under its public name and asks the plan before anything else happens; calls that driver functions make of
// each other are not counted. A failing call has no effect.
//
//   plan    := failure { ',' failure }
//   failure := name [ ':' (n | 'all') ] [ '=' code ]      name: a driver function, or '*' for every call
//   code    := a CUresult by number or name; by default out of memory for allocations, else CUDA_ERROR_UNKNOWN
#pragma once

#include <cuda.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::emulator {

class FailurePlan {
public:
  /// Replaces the plan. `functions`: the names that may fail, without version suffix. Returns what is wrong with
  /// `text`, or nothing.
  std::string parse(std::string_view text, std::span<const std::string> functions);
  /// Counts a call of `function` (a version suffix, "_v2", is ignored). Returns what it fails with, or CUDA_SUCCESS.
  CUresult call(std::string_view function);
  bool empty() const { return failures_.empty(); }
  /// Calls that the plan has made fail.
  uint64_t made() const { return made_; }

private:
  struct Failure {
    std::string function;
    uint64_t at = 1;              // 0: every call
    CUresult code = CUDA_SUCCESS; // CUDA_SUCCESS: by function
    uint64_t calls = 0;
  };
  std::string parseFailure(std::string_view text, std::span<const std::string> functions);
  std::vector<Failure> failures_;
  uint64_t made_ = 0;
};

} // namespace tenon::emulator
