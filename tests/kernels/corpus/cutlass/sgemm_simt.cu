// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUTLASS 2.x: a GEMM of floats on CUDA cores, C and D row-major, A column-major.
#include "cutlass/gemm/device/gemm.h"
#include "describe.h"

using Gemm =
    cutlass::gemm::device::Gemm<float, cutlass::layout::ColumnMajor, float, cutlass::layout::RowMajor, float,
                                cutlass::layout::RowMajor, float, cutlass::arch::OpClassSimt, cutlass::arch::Sm50,
                                cutlass::gemm::GemmShape<32, 64, 8>, cutlass::gemm::GemmShape<32, 32, 8>>;

int main() {
  using Kernel = Gemm::GemmKernel;
  const cutlass::gemm::GemmCoord size(70, 100, 37), grid(3, 2, 1);
  const Kernel::Params params(size, grid, {pointer<float>(0), 70}, {pointer<float>(1), 100}, {pointer<float>(2), 100},
                              {pointer<float>(3), 100}, {1.5f, -0.5f});
  void (*const kernel)(Kernel::Params) = cutlass::Kernel<Kernel>;
  return describe("sgemm_simt", params, kernel ? dim3(3, 2, 1) : dim3(), Kernel::kThreadCount,
                  sizeof(Kernel::SharedStorage));
}
