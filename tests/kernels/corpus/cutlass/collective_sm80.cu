// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUTLASS 3.x: the collective for cp.async and mma.sync, put together by hand on CuTe's layouts.
#include "cute/atom/copy_traits_sm80.hpp"
#include "cute/atom/mma_traits_sm80.hpp"
#include "cutlass/device_kernel.h"
#include "cutlass/epilogue/collective/default_epilogue.hpp"
#include "cutlass/epilogue/thread/linear_combination.h"
#include "cutlass/gemm/collective/collective_mma.hpp"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
#include "describe.h"

using namespace cute;
using Half = cutlass::half_t;
using Mma = TiledMMA<MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>, Layout<Shape<_2, _2, _1>>, Tile<_32, _32, _16>>;
using Smem = decltype(composition(Swizzle<2, 3, 3>{}, Layout<Shape<_8, _32>, Stride<_32, _1>>{}));
using Load = decltype(make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEALWAYS_ZFILL<uint128_t>, Half>{},
                                      Layout<Shape<_32, _4>, Stride<_4, _1>>{}, Layout<Shape<_1, _8>>{}));
using Stride3 = Stride<int64_t, _1, int64_t>;
using Mainloop =
    cutlass::gemm::collective::CollectiveMma<cutlass::gemm::MainloopSm80CpAsync<3>, Shape<_64, _64, _32>, Half, Stride3,
                                             Half, Stride3, Mma, Load, Smem, Copy_Atom<SM75_U32x4_LDSM_N, Half>,
                                             identity, Load, Smem, Copy_Atom<SM75_U32x4_LDSM_N, Half>, identity>;
using Epilogue =
    cutlass::epilogue::collective::DefaultEpilogue<float, Stride3, Stride3,
                                                   cutlass::epilogue::thread::LinearCombination<float, 1, float, float>,
                                                   cutlass::gemm::EpilogueDefault>;
using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop, Epilogue>;

int main() {
  const int m = 80, n = 72, k = 96, batches = 2;
  const Kernel::Arguments arguments{
      cutlass::gemm::GemmUniversalMode::kBatched,
      {m, n, k, batches},
      {pointer<Half>(0), {k, _1{}, int64_t(m) * k}, pointer<Half>(1), {k, _1{}, int64_t(n) * k}},
      {{2.f, -1.f}, pointer<float>(2), {n, _1{}, int64_t(m) * n}, pointer<float>(3), {n, _1{}, int64_t(m) * n}}};
  const Kernel::Params params = Kernel::to_underlying_arguments(arguments, nullptr);
  void (*const kernel)(Kernel::Params) = cutlass::device_kernel<Kernel>;
  return describe("collective_sm80", params, kernel ? Kernel::get_grid_shape(params) : dim3(),
                  Kernel::MaxThreadsPerBlock, Kernel::SharedStorageSize);
}
