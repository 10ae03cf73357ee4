// libcu++: barriers in shared memory, atomics, and memcpy_async.
#include <cuda/atomic>
#include <cuda/barrier>
#pragma nv_diag_suppress static_var_with_dynamic_init
extern "C" __global__ void staged(const float *in, float *out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ float tile[128];
  if (threadIdx.x == 0)
    init(&barrier, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&tile[threadIdx.x], &in[blockIdx.x * 128 + threadIdx.x], sizeof(float), barrier);
  barrier.arrive_and_wait();
  out[blockIdx.x * 128 + threadIdx.x] = tile[127 - threadIdx.x];
}
extern "C" __global__ void count_positive(const float *in, unsigned long long *count, int size) {
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> total(*count);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size && in[i] > 0)
    total.fetch_add(1, cuda::memory_order_relaxed);
}
