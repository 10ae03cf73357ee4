// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A few of many kernels that compute the same, for a size that only the program knows. What each would take is known
// for some sizes; each kernel more makes some of them faster, and takes time to compile. The program compares the size
// with the numbers between which each is the fastest, which may be several:
//
//   rows      64     128    192    256    320 ...           the last one has all that are larger
//   kernel    a      a      b      a      c                 a: up to 256 without those above 128 and up to 192
#pragma once

#include "compiler/codegen/plan/plan.h"

namespace tenon::compiler::codegen {

/// What kernels take for sizes, in any unit that is the same for all of them.
struct KernelTimes {
  std::vector<int64_t> sizes;             // ascending; each stands for those behind the one before, too
  std::vector<std::vector<double>> times; // [kernels][sizes]
};

/// A kernel that is one of the few, and the sizes at which it runs. Of each size one does.
struct FewKernel {
  size_t number = 0;
  std::vector<bool> runs; // [sizes]
};

/// Those with which all sizes together are done first, where each counts by how many times it is larger than the one
/// before, powers of two twice as often, in times of the fastest kernel that there is.
/// @param most kernels
std::vector<FewKernel> fewKernelsOf(const KernelTimes &times, size_t most);

/// Says of a guard's length at which of the sizes the kernel runs. The first one's also runs where the length is 0.
/// @param guard what the length is
Guard guardedBySize(Guard guard, llvm::ArrayRef<int64_t> sizes, const std::vector<bool> &runs);

} // namespace tenon::compiler::codegen
