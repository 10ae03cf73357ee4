// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Persistent and cooperative: two warp groups to a tile, tiles of A sent to both blocks of a cluster.
#include "hopper.h"

int main() {
  using Gemm =
      HopperGemm<cutlass::half_t, 8, float, 4, Shape<_128, _64, _64>, Shape<_1, _2, _1>,
                 cutlass::gemm::KernelTmaWarpSpecializedCooperative, cutlass::epilogue::TmaWarpSpecializedCooperative>;
  return Gemm::describe("hopper_cluster", 160, 200, 128, 1.f, 0.f);
}
