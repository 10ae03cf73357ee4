// Thread block clusters, distributed shared memory, bulk copies, programmatic launch. minimum: compute_90
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128) cluster(int *x) {
  __shared__ int tile[128];
  __shared__ unsigned long long barrier;
  cg::cluster_group group = cg::this_cluster();
  tile[threadIdx.x] = x[threadIdx.x];
  group.sync();
  x[threadIdx.x] = *group.map_shared_rank(tile + threadIdx.x, group.block_rank() ^ 1);
  unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(&barrier)),
           to = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];" ::"r"(to),
               "l"(x), "r"(bar));
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(128));
  asm volatile("{ .reg .pred P1; LAB_WAIT: mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1; @P1 bra.uni DONE; "
               "bra.uni LAB_WAIT; DONE: }" ::"r"(bar),
               "r"(0));
  asm volatile("{ .reg .pred p; .reg .b32 r; elect.sync r|p, 0xffffffff; @p red.relaxed.gpu.global.add.u32 [%0], 1; }"
               :
               : "l"(x));
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
}
