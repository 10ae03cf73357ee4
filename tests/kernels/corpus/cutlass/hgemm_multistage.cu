// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUTLASS 2.x: a GEMM of halves on tensor cores, three stages of cp.async, rectified on the way out; split along k in
// two slices.
#include "cutlass/epilogue/thread/linear_combination_relu.h"
#include "cutlass/gemm/device/gemm_universal.h"
#include "describe.h"

using Half = cutlass::half_t;
using Output = cutlass::epilogue::thread::LinearCombinationRelu<Half, 8, float, float>;
using Gemm =
    cutlass::gemm::device::GemmUniversal<Half, cutlass::layout::RowMajor, Half, cutlass::layout::ColumnMajor, Half,
                                         cutlass::layout::RowMajor, float, cutlass::arch::OpClassTensorOp,
                                         cutlass::arch::Sm80, cutlass::gemm::GemmShape<64, 64, 32>,
                                         cutlass::gemm::GemmShape<32, 32, 32>, cutlass::gemm::GemmShape<16, 8, 16>,
                                         Output, cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3>;

int main() {
  using Kernel = Gemm::GemmKernel;
  const Kernel::Arguments arguments(cutlass::gemm::GemmUniversalMode::kGemm, {72, 88, 96}, 1, {0.25f, 1.f},
                                    pointer<Half>(0), pointer<Half>(1), pointer<Half>(2), pointer<Half>(3), 0, 0, 0, 0,
                                    96, 96, 88, 88);
  const Kernel::Params params(arguments, 132, 1);
  void (*const kernel)(Kernel::Params) = cutlass::Kernel2<Kernel>;
  return describe("hgemm_multistage", params, kernel ? params.get_grid_dims() : dim3(), Kernel::kThreadCount,
                  sizeof(Kernel::SharedStorage));
}
