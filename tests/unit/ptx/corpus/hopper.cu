// Warpgroup matrix multiplies and tensor map copies of sm_90a, by inline assembly. only: compute_90a
#include <cstdint>
#include <cuda.h>
extern "C" __global__ void __launch_bounds__(128) hopper(const __grid_constant__ CUtensorMap map, float *out) {
  __shared__ __align__(1024) unsigned char tile[16384];
  __shared__ __align__(8) uint64_t barrier;
  unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(&barrier)),
           to = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  int x = 0, y = 64;
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map));
  asm volatile("fence.mbarrier_init.release.cluster;");
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::
          "r"(to),
      "l"(&map), "r"(bar), "r"(x), "r"(y)
      : "memory");
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint"
      " [%0], [%1, {%3, %4, %3}], [%2], %5, %6;" ::"r"(to),
      "l"(&map), "r"(bar), "r"(x), "r"(y), "h"((uint16_t)3), "l"(0x1234ull)
      : "memory");
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map), "r"(to),
               "r"(x), "r"(y));
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, "
               "%3, %4}], [%2], {%5, %5};" ::"r"(to),
               "l"(&map), "r"(bar), "r"(x), "r"(y), "h"((uint16_t)1)
               : "memory");
  float d[4] = {};
  uint64_t descriptor = 0x4000000000000000ull | to;
  asm volatile("wgmma.fence.sync.aligned;");
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 1;\n}\n"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "l"(descriptor), "l"(descriptor), "r"(1));
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {%0, %1, %2, %3}, {%4, %4, %4, %4}, %5, 1, 1, -1;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(to), "l"(descriptor));
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  for (int i = 0; i < 4; ++i)
    out[threadIdx.x * 4 + i] = d[i];
}
