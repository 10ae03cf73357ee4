// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUTLASS 3.x on Hopper: a kernel from CollectiveBuilder for a tile, a cluster and schedules; its main prints what a
// launch gets.
#pragma once

#include "cutlass/device_kernel.h"
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
#include "describe.h"

using namespace cute;

template <typename In, int AlignIn, typename Out, int AlignOut, typename Tile, typename Cluster, typename Schedule,
          typename EpilogueSchedule>
struct HopperGemm {
  using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster,
      cutlass::epilogue::collective::EpilogueTileAuto, float, float, Out, cutlass::layout::RowMajor, AlignOut, Out,
      cutlass::layout::RowMajor, AlignOut, EpilogueSchedule>::CollectiveOp;
  using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, In, cutlass::layout::RowMajor, AlignIn, In,
      cutlass::layout::ColumnMajor, AlignIn, float, Tile, Cluster, cutlass::gemm::collective::StageCount<2>,
      Schedule>::CollectiveOp;
  using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop, Epilogue>;

  static int describe(const char *name, int m, int n, int k, float alpha, float beta) {
    cutlass::KernelHardwareInfo hardware;
    hardware.sm_count = 4;
    hardware.cluster_shape = dim3(size<0>(Cluster{}), size<1>(Cluster{}), 1);
    hardware.max_active_clusters = 4;
    const typename Kernel::Arguments arguments{
        cutlass::gemm::GemmUniversalMode::kGemm,
        {m, n, k, 1},
        {pointer<In>(0), {k, _1{}, int64_t(m) * k}, pointer<In>(1), {k, _1{}, int64_t(n) * k}},
        {{alpha, beta}, pointer<Out>(2), {n, _1{}, int64_t(m) * n}, pointer<Out>(3), {n, _1{}, int64_t(m) * n}},
        hardware};
    const typename Kernel::Params params = Kernel::to_underlying_arguments(arguments, nullptr);
    void (*const kernel)(typename Kernel::Params) = cutlass::device_kernel<Kernel>;
    return ::describe(name, params, kernel ? Kernel::get_grid_shape(params) : dim3(), Kernel::MaxThreadsPerBlock,
                      Kernel::SharedStorageSize, hardware.cluster_shape);
  }
};
