// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUTLASS 2.x: one GEMM for each entry of tables of pointers in device memory.
#include "cutlass/gemm/device/gemm_array.h"
#include "describe.h"

using Gemm =
    cutlass::gemm::device::GemmArray<float, cutlass::layout::RowMajor, float, cutlass::layout::RowMajor, float,
                                     cutlass::layout::RowMajor, float, cutlass::arch::OpClassSimt, cutlass::arch::Sm50,
                                     cutlass::gemm::GemmShape<32, 32, 8>, cutlass::gemm::GemmShape<32, 32, 8>>;

int main() {
  using Kernel = Gemm::GemmKernel;
  const Kernel::Params params({40, 33, 20}, {2, 2, 3}, pointer<const float *>(0), 20, pointer<const float *>(1), 33,
                              pointer<const float *>(2), 33, pointer<float *>(3), 33, {2.f, 1.f}, 3);
  void (*const kernel)(Kernel::Params) = cutlass::Kernel<Kernel>;
  return describe("gemm_array", params, kernel ? dim3(2, 2, 3) : dim3(), Kernel::kThreadCount,
                  sizeof(Kernel::SharedStorage));
}
