// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Alignment of 4 elements: cp.async instead of tensor copies, wgmma all the same.
#include "hopper.h"

int main() {
  using Gemm = HopperGemm<cutlass::half_t, 4, float, 1, Shape<_64, _64, _64>, Shape<_1, _1, _1>,
                          cutlass::gemm::KernelCpAsyncWarpSpecialized, cutlass::epilogue::NoSmemWarpSpecialized>;
  return Gemm::describe("hopper_cp_async", 70, 68, 100, 1.5f, -0.5f);
}
