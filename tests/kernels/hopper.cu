// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What sm_90a adds: clusters that share memory, bulk and tensor copies with mbarriers, wgmma. Compiled for sm_90a
// alone.
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace cg = cooperative_groups;

__device__ unsigned sharedOffset(const void *p) {
  return (unsigned)__cvta_generic_to_shared(p);
}
__device__ void initBarrier(uint64_t *barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sharedOffset(barrier)), "r"(count) : "memory");
}
__device__ void fenceBarriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ void expect(uint64_t *barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sharedOffset(barrier)), "r"(bytes)
               : "memory");
}
__device__ void arrive(uint64_t *barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(sharedOffset(barrier)) : "memory");
}
__device__ void wait(uint64_t *barrier, unsigned parity) {
  asm volatile("{\n.reg .pred p;\nAGAIN_%=:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
               "@!p bra AGAIN_%=;\n}" ::"r"(sharedOffset(barrier)),
               "r"(parity)
               : "memory");
}
__device__ void loadTile(void *to, const CUtensorMap *map, uint64_t *barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
          sharedOffset(to)),
      "l"(map), "r"(sharedOffset(barrier)), "r"(x), "r"(y)
      : "memory");
}

// ---- Clusters

// out[cluster] = sum of n numbers of each of its blocks, gathered by rank 0 out of the others' shared memory.
extern "C" __global__ void cluster_sum(const float *in, float *out, int n) {
  __shared__ float sum;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  float mine = 0;
  for (int k = threadIdx.x; k < n; k += blockDim.x)
    mine += in[blockIdx.x * n + k];
  atomicAdd(&sum, mine);
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) {
    float total = 0;
    for (unsigned r = 0; r < cluster.num_blocks(); r++)
      total += *cluster.map_shared_rank(&sum, r);
    out[blockIdx.x / cluster.num_blocks()] = total;
  }
  cluster.sync();
}

// Every block writes its threads' numbers into the next block's shared memory, and counts in that of rank 0.
extern "C" __global__ void cluster_ring(unsigned *out) {
  __shared__ unsigned box[64], count;
  unsigned rank, ranks, remote, home;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(ranks));
  if (threadIdx.x == 0)
    count = 0;
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(remote)
               : "r"(sharedOffset(&box[threadIdx.x])), "r"((rank + 1) % ranks));
  asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(home) : "r"(sharedOffset(&count)));
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(remote), "r"(1000 * rank + threadIdx.x) : "memory");
  asm volatile("red.shared::cluster.add.u32 [%0], 1;" ::"r"(home) : "memory");
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
  out[block * 65 + threadIdx.x] = box[threadIdx.x];
  if (threadIdx.x == 0)
    out[block * 65 + 64] = count;
}

// Rank 1 sends with st.async, which an mbarrier of rank 0 hears of, and arrives there itself.
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_send(unsigned *out) {
  __shared__ unsigned box[32];
  __shared__ uint64_t barrier;
  cg::cluster_group cluster = cg::this_cluster();
  unsigned rank = cluster.block_rank(), to, bell;
  if (threadIdx.x == 0) {
    initBarrier(&barrier, 2);
    fenceBarriers();
    if (rank == 0)
      expect(&barrier, sizeof box);
  }
  cluster.sync();
  if (rank == 1) {
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(to) : "r"(sharedOffset(&box[threadIdx.x])));
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(bell) : "r"(sharedOffset(&barrier)));
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to),
                 "r"(threadIdx.x * 7), "r"(bell)
                 : "memory");
    if (threadIdx.x == 0)
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(bell) : "memory");
  } else {
    wait(&barrier, 0);
    out[threadIdx.x] = box[threadIdx.x];
  }
  cluster.sync();
}

// ---- Bulk and tensor copies

// out = in * 2, then sums += in, through shared memory by bulk copies.
extern "C" __global__ void bulk_copy(const float *in, float *out, float *sums) {
  __shared__ __align__(128) float tile[256], twice[256];
  __shared__ uint64_t barrier;
  int base = blockIdx.x * 256;
  if (threadIdx.x == 0) {
    initBarrier(&barrier, 1);
    fenceBarriers();
    expect(&barrier, sizeof tile);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     sharedOffset(tile)),
                 "l"(in + base), "r"((unsigned)sizeof tile), "r"(sharedOffset(&barrier))
                 : "memory");
  }
  __syncthreads();
  wait(&barrier, 0);
  twice[threadIdx.x] = 2 * tile[threadIdx.x];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + base),
                 "r"(sharedOffset(twice)), "r"((unsigned)sizeof twice)
                 : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(sums),
                 "r"(sharedOffset(tile)), "r"((unsigned)sizeof tile)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

// What a tensor load leaves in shared memory, which was 0xee before: the record of swizzles and of what lies outside.
extern "C" __global__ void tensor_dump(const __grid_constant__ CUtensorMap map, uint8_t *out, int boxBytes,
                                       int dumpBytes, int x, int y) {
  extern __shared__ __align__(1024) uint8_t memory[];
  __shared__ uint64_t barrier;
  for (int k = threadIdx.x; k < dumpBytes; k += blockDim.x)
    memory[k] = 0xee;
  if (threadIdx.x == 0)
    initBarrier(&barrier, 1);
  fenceBarriers();
  __syncthreads();
  if (threadIdx.x == 0) {
    expect(&barrier, boxBytes);
    loadTile(memory, &map, &barrier, x, y);
  }
  wait(&barrier, 0);
  __syncthreads();
  for (int k = threadIdx.x; k < dumpBytes; k += blockDim.x)
    out[k] = memory[k];
}

// A box of three dimensions goes in by one map and out by another.
extern "C" __global__ void tensor_move(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to,
                                       int boxBytes, int x, int y, int z) {
  extern __shared__ __align__(1024) uint8_t memory[];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    initBarrier(&barrier, 1);
    fenceBarriers();
    expect(&barrier, boxBytes);
    asm volatile("prefetch.tensormap [%0];" ::"l"(&from) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
        "[%2];" ::"r"(sharedOffset(memory)),
        "l"(&from), "r"(sharedOffset(&barrier)), "r"(x), "r"(y), "r"(z)
        : "memory");
    wait(&barrier, 0);
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&to),
                 "r"(sharedOffset(memory)), "r"(x), "r"(y), "r"(z)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

// Each block of a pair loads one half of 32 rows and sends it to both.
extern "C" __global__ void __cluster_dims__(2, 1, 1)
    tensor_multicast(const __grid_constant__ CUtensorMap map, float *out) {
  __shared__ __align__(128) float rows[32][32];
  __shared__ uint64_t barrier;
  cg::cluster_group cluster = cg::this_cluster();
  unsigned rank = cluster.block_rank();
  if (threadIdx.x == 0) {
    initBarrier(&barrier, 1);
    fenceBarriers();
    expect(&barrier, sizeof rows);
  }
  cluster.sync();
  if (threadIdx.x == 0)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
                 "[%1, {%3, %4}], [%2], %5;" ::"r"(sharedOffset(rows[16 * rank])),
                 "l"(&map), "r"(sharedOffset(&barrier)), "r"(0), "r"((int)(16 * rank)), "h"((unsigned short)3)
                 : "memory");
  wait(&barrier, 0);
  for (int k = threadIdx.x; k < 32 * 32; k += blockDim.x)
    out[blockIdx.x * 1024 + k] = rows[k / 32][k % 32];
  cluster.sync();
}

// ---- wgmma

__device__ void fenceWgmma() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ void finishWgmma() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// One wgmma of 64 x 16: images of A and B (8 KiB each) go to shared memory as they are; descriptors come without their
// addresses, `offset` is added to both. out[64][16] is read first when `accumulate`.
#define WGMMA(NAME, ELEMENT, CONSTRAINT, SHAPE, TAIL)                                                                  \
  extern "C" __global__ void NAME(const uint4 *a, const uint4 *b, uint64_t da, uint64_t db, int offset, ELEMENT *out,  \
                                  int accumulate) {                                                                    \
    extern __shared__ __align__(1024) uint4 images[];                                                                  \
    for (int k = threadIdx.x; k < 512; k += blockDim.x) {                                                              \
      images[k] = a[k];                                                                                                \
      images[512 + k] = b[k];                                                                                          \
    }                                                                                                                  \
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                                                       \
    __syncthreads();                                                                                                   \
    int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;                              \
    ELEMENT d[8];                                                                                                      \
    for (int k = 0; k < 8; k++)                                                                                        \
      d[k] = out[(row + k / 2 % 2 * 8) * 16 + column + k % 2 + k / 4 * 8];                                             \
    da |= ((sharedOffset(images) + offset) & 0x3ffff) >> 4;                                                            \
    db |= ((sharedOffset(images + 512) + offset) & 0x3ffff) >> 4;                                                      \
    fenceWgmma();                                                                                                      \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\nwgmma.mma_async.sync.aligned." SHAPE                       \
                 " {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p" TAIL ";\n}"                                            \
                 : CONSTRAINT(d[0]), CONSTRAINT(d[1]), CONSTRAINT(d[2]), CONSTRAINT(d[3]), CONSTRAINT(d[4]),           \
                   CONSTRAINT(d[5]), CONSTRAINT(d[6]), CONSTRAINT(d[7])                                                \
                 : "l"(da), "l"(db), "r"(accumulate));                                                                 \
    finishWgmma();                                                                                                     \
    for (int k = 0; k < 8; k++)                                                                                        \
      out[(row + k / 2 % 2 * 8) * 16 + column + k % 2 + k / 4 * 8] = d[k];                                             \
  }
WGMMA(wgmma_f16, float, "+f", "m64n16k16.f32.f16.f16", ", 1, 1, 0, 0")
WGMMA(wgmma_f16_negative, float, "+f", "m64n16k16.f32.f16.f16", ", -1, 1, 0, 0")
WGMMA(wgmma_bf16_tn, float, "+f", "m64n16k16.f32.bf16.bf16", ", 1, 1, 1, 0")
WGMMA(wgmma_bf16_nt, float, "+f", "m64n16k16.f32.bf16.bf16", ", 1, 1, 0, 1")
WGMMA(wgmma_tf32, float, "+f", "m64n16k8.f32.tf32.tf32", ", 1, 1")
WGMMA(wgmma_fp8, float, "+f", "m64n16k32.f32.e4m3.e5m2", ", 1, 1")
WGMMA(wgmma_s8, int, "+r", "m64n16k32.s32.s8.u8", "")

// A from registers: row-major [64][16] of f16 in global memory; sums in f16.
extern "C" __global__ void wgmma_registers(const unsigned *a, const uint4 *b, uint64_t db, unsigned *out) {
  extern __shared__ __align__(1024) uint4 image[];
  for (int k = threadIdx.x; k < 512; k += blockDim.x)
    image[k] = b[k];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, pair = threadIdx.x % 4;
  unsigned r[4], d[4] = {};
  for (int k = 0; k < 4; k++)
    r[k] = a[(row + k % 2 * 8) * 8 + pair + k / 2 * 4];
  db |= (sharedOffset(image) & 0x3ffff) >> 4;
  fenceWgmma();
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %9, 0;\nwgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, p, 1, 1, 0;\n}"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(db), "r"(0));
  finishWgmma();
  for (int k = 0; k < 4; k++)
    out[(row + k % 2 * 8) * 8 + pair + k / 2 * 4] = d[k];
}

// C[M][N] = A[M][K] B[N][K]^T in tiles of 64 x 64: one warp loads tiles with 128-byte swizzle into a ring of two, a
// warpgroup multiplies them.
extern "C" __global__ void __launch_bounds__(160)
    gemm_tma_wgmma(const __grid_constant__ CUtensorMap ta, const __grid_constant__ CUtensorMap tb, float *c, int n,
                   int k) {
  extern __shared__ __align__(1024) uint8_t memory[];
  __shared__ uint64_t full[2], empty[2];
  const int kTile = 8192; // bytes of 64 x 64 f16
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; s++) {
      initBarrier(&full[s], 1);
      initBarrier(&empty[s], 128);
    }
    fenceBarriers();
  }
  __syncthreads();
  int steps = k / 64;
  if (threadIdx.x >= 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 128)
      for (int t = 0; t < steps; t++) {
        int s = t % 2;
        if (t >= 2)
          wait(&empty[s], (t / 2 - 1) & 1);
        expect(&full[s], 2 * kTile);
        loadTile(memory + s * 2 * kTile, &ta, &full[s], t * 64, blockIdx.y * 64);
        loadTile(memory + s * 2 * kTile + kTile, &tb, &full[s], t * 64, blockIdx.x * 64);
      }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  float d[32] = {};
  for (int t = 0; t < steps; t++) {
    int s = t % 2;
    wait(&full[s], t / 2 & 1);
    fenceWgmma();
    for (int part = 0; part < 4; part++) {
      const uint64_t layout = 1ull << 16 | 64ull << 32 | 1ull << 62;
      unsigned at = sharedOffset(memory) + s * 2 * kTile + part * 32;
      uint64_t da = layout | (at & 0x3ffff) >> 4, db = layout | ((at + kTile) & 0x3ffff) >> 4;
      asm volatile(
          "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\nwgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, "
          "%3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, "
          "%26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, 0;\n}"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
            "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
            "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
            "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
          : "l"(da), "l"(db), "r"(t + part));
    }
    finishWgmma();
    arrive(&empty[s]);
  }
  int row = blockIdx.y * 64 + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
  int column = blockIdx.x * 64 + threadIdx.x % 4 * 2;
  for (int e = 0; e < 32; e++)
    c[(row + e / 2 % 2 * 8) * n + column + e % 2 + e / 4 * 8] = d[e];
}
