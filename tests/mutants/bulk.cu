// A kernel for mutation whose data come and go by bulk copies (sm_90).
#include <cstdint>

static __device__ uint32_t offsetOf(const void *shared) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
}

static __device__ void load(float *to, const float *from, uint64_t *full) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(offsetOf(full)) : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" ::"r"(offsetOf(to)),
      "l"(from), "r"(offsetOf(full))
      : "memory");
}

// One block of 128 threads doubles tiles of 128 numbers. The next tile comes while one is worked at, the last one goes
// while the next is waited for.
extern "C" __global__ void bulk_double(const float *in, float *out, int tiles) {
  __shared__ __align__(128) float from[256], to[128];
  __shared__ uint64_t full[2];
  int t = threadIdx.x;
  if (t == 0) {
    for (int k = 0; k < 2; k++)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(offsetOf(&full[k])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (t == 0)
    load(from, in, &full[0]);
#pragma unroll 1
  for (int k = 0; k < tiles; k++) {
    if (t == 0 && k + 1 < tiles)
      load(from + (k + 1) % 2 * 128, in + (k + 1) * 128, &full[(k + 1) % 2]);
    uint32_t there = 0;
    while (!there)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(there)
                   : "r"(offsetOf(&full[k % 2])), "r"(k / 2 % 2)
                   : "memory");
    if (t == 0)
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    __syncthreads();
    to[t] = 2 * from[k % 2 * 128 + t];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(out + k * 128),
                   "r"(offsetOf(to))
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  if (t == 0) {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    out[0] += 1; // what the copies wrote may be touched now
  }
}
