// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUTLASS 2.x: GEMMs of several sizes in one launch; sizes, strides and pointers are tables in device memory, and
// blocks find their tiles.
#include "cutlass/gemm/device/gemm_grouped.h"
#include "cutlass/gemm/kernel/default_gemm_grouped.h"
#include "describe.h"

using Half = cutlass::half_t;
using Kernel = cutlass::gemm::kernel::DefaultGemmGrouped<
    Half, cutlass::layout::RowMajor, cutlass::ComplexTransform::kNone, 8, Half, cutlass::layout::RowMajor,
    cutlass::ComplexTransform::kNone, 8, float, cutlass::layout::RowMajor, float, cutlass::arch::OpClassTensorOp,
    cutlass::arch::Sm80, cutlass::gemm::GemmShape<64, 64, 32>, cutlass::gemm::GemmShape<32, 32, 32>,
    cutlass::gemm::GemmShape<16, 8, 16>, cutlass::epilogue::thread::LinearCombination<float, 4, float, float>,
    cutlass::gemm::threadblock::GemmBatchedIdentityThreadblockSwizzle, 3,
    cutlass::gemm::kernel::GroupScheduleMode::kDeviceOnly>::GemmKernel;

int main() {
  Kernel::Arguments arguments(pointer<cutlass::gemm::GemmCoord>(0), 3, 4, {1.f, 0.5f}, pointer<Half *>(1),
                              pointer<Half *>(2), pointer<float *>(3), pointer<float *>(4), pointer<int64_t>(5),
                              pointer<int64_t>(6), pointer<int64_t>(7), pointer<int64_t>(8));
  const Kernel::Params params(arguments);
  void (*const kernel)(Kernel::Params) = cutlass::Kernel<Kernel>;
  return describe("gemm_grouped", params, kernel ? dim3(4, 1, 1) : dim3(), Kernel::kThreadCount,
                  sizeof(Kernel::SharedStorage));
}
