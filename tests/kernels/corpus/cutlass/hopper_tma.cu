// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A warp that loads by tensor copies, a warp group that multiplies, results straight from registers.
#include "hopper.h"

int main() {
  using Gemm = HopperGemm<cutlass::half_t, 8, float, 1, Shape<_64, _64, _64>, Shape<_1, _1, _1>,
                          cutlass::gemm::KernelTmaWarpSpecialized, cutlass::epilogue::NoSmemWarpSpecialized>;
  return Gemm::describe("hopper_tma", 100, 90, 136, 2.f, 1.f);
}
