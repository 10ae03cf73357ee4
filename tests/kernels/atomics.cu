// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Synchronisation of libcu++ and of the programming guide: loops over compare-and-swap, barriers, pipelines,
// atomic_ref.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

// As the programming guide writes atomicAdd of doubles: the first read is a plain one.
__device__ void addDouble(double *address, double value) {
  auto *bits = reinterpret_cast<unsigned long long *>(address);
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
}

extern "C" __global__ void sumDoubles(const int *in, double *out, int n) {
  __shared__ double sum;
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    addDouble(&sum, in[i]);
  __syncthreads();
  if (threadIdx.x == 0)
    addDouble(out, sum);
}

// The largest of positive floats; most threads see a larger one and leave.
extern "C" __global__ void largestFloat(const float *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = i < n ? in[i] : 0.0f;
  int old = *out;
  while (__int_as_float(old) < value) {
    int assumed = old;
    old = atomicCAS(out, assumed, __float_as_int(value));
    if (old == assumed)
      break;
  }
}

// Threads that find what is looked for all say so.
extern "C" __global__ void containsLarger(const int *in, int *out, int than) {
  __shared__ int found;
  if (threadIdx.x == 0)
    found = 0;
  __syncthreads();
  if (in[blockIdx.x * blockDim.x + threadIdx.x] > than)
    found = 1;
  __syncthreads();
  if (threadIdx.x == 0)
    out[blockIdx.x] = found;
}

// Rounds between barriers; the last thread takes the barrier down.
extern "C" __global__ void rotate(const int *in, int *out, int rounds) {
  __shared__ int values[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0)
    init(&barrier, blockDim.x);
  __syncthreads();
  int value = in[threadIdx.x];
  for (int k = 0; k < rounds; ++k) {
    values[threadIdx.x] = value;
    barrier.arrive_and_wait();
    value = values[(threadIdx.x + 1) % blockDim.x];
    barrier.arrive_and_wait();
  }
  out[threadIdx.x] = value;
}

// Two buffers; every thread's pipeline object is destroyed at the end, and with the last one the barriers.
extern "C" __global__ void reverseBatches(const int *in, int *out, int batches) {
  extern __shared__ int staged[];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  int n = blockDim.x, begin = blockIdx.x * batches * n;
  for (int batch = 0, fetched = 0; batch < batches; ++batch) {
    for (; fetched < batches && fetched < batch + 2; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, staged + fetched % 2 * n, in + begin + fetched * n, sizeof(int) * n, pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    out[begin + batch * n + threadIdx.x] = staged[batch % 2 * n + n - 1 - threadIdx.x];
    pipeline.consumer_release();
  }
}

// A flag between two warps, and counters that all threads update.
extern "C" __global__ void references(const int *in, int *out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> sum(out[0]), largest(out[1]);
  int value = in[blockIdx.x * blockDim.x + threadIdx.x];
  sum.fetch_add(value, cuda::memory_order_relaxed);
  largest.fetch_max(value);
  __shared__ cuda::atomic<int, cuda::thread_scope_block> flag;
  __shared__ int data;
  if (threadIdx.x == 0)
    flag.store(0);
  __syncthreads();
  if (threadIdx.x == 33) {
    data = value;
    flag.store(1, cuda::memory_order_release);
  }
  if (threadIdx.x == 0) {
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
    out[2 + blockIdx.x] = data;
  }
}
