// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Persistent: two warp groups take tiles in turn, results leave by tensor copies too.
#include "hopper.h"

int main() {
  using Gemm = HopperGemm<cutlass::bfloat16_t, 8, cutlass::bfloat16_t, 8, Shape<_64, _64, _64>, Shape<_1, _1, _1>,
                          cutlass::gemm::KernelTmaWarpSpecializedPingpong, cutlass::epilogue::TmaWarpSpecialized>;
  return Gemm::describe("hopper_pingpong", 136, 144, 128, 0.5f, 1.f);
}
