// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose threads work together: shared memory, barriers, shuffles, atomics.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

__device__ float warpSum(float v) {
  for (int s = 16; s; s /= 2)
    v += __shfl_xor_sync(~0u, v, s);
  return v;
}
__device__ float warpMax(float v) {
  for (int s = 16; s; s /= 2)
    v = fmaxf(v, __shfl_xor_sync(~0u, v, s));
  return v;
}

// One block per row.
extern "C" __global__ void softmax(const float *in, float *out, int columns) {
  __shared__ float partial[32];
  const float *row = in + (size_t)blockIdx.x * columns;
  float *to = out + (size_t)blockIdx.x * columns;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  float m = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    m = fmaxf(m, row[c]);
  m = warpMax(m);
  if (lane == 0)
    partial[warp] = m;
  __syncthreads();
  m = warpMax(lane < warps ? partial[lane] : -INFINITY);
  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    sum += expf(row[c] - m);
  sum = warpSum(sum);
  __syncthreads();
  if (lane == 0)
    partial[warp] = sum;
  __syncthreads();
  sum = warpSum(lane < warps ? partial[lane] : 0);
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    to[c] = expf(row[c] - m) / sum;
}

extern "C" __global__ void layernorm(const float *in, const float *gain, float *out, int columns) {
  __shared__ float partial[2][32];
  const float *row = in + (size_t)blockIdx.x * columns;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  float s = 0, q = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    s += row[c];
    q += row[c] * row[c];
  }
  s = warpSum(s);
  q = warpSum(q);
  if (lane == 0) {
    partial[0][warp] = s;
    partial[1][warp] = q;
  }
  __syncthreads();
  s = warpSum(lane < warps ? partial[0][lane] : 0) / columns;
  q = warpSum(lane < warps ? partial[1][lane] : 0) / columns;
  float scale = rsqrtf(q - s * s + 1e-5f);
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    out[(size_t)blockIdx.x * columns + c] = (row[c] - s) * scale * gain[c];
}

extern "C" __global__ void reduce(const int *in, int *out, int n) {
  int v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    v += in[i];
  for (int s = 16; s; s /= 2)
    v += __shfl_down_sync(~0u, v, s);
  if (threadIdx.x % 32 == 0)
    atomicAdd(out, v);
}

// C = A B, all row-major, sizes multiples of 16; 16 x 16 threads.
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
  __shared__ float ta[16][17], tb[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < k; t += 16) {
    ta[threadIdx.y][threadIdx.x] = a[row * k + t + threadIdx.x];
    tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; i++)
      sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

extern "C" __global__ void transpose(const float *in, float *out, int rows, int columns) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += 8)
    if (x < columns && blockIdx.y * 32 + j < rows)
      tile[j][threadIdx.x] = in[(blockIdx.y * 32 + j) * columns + x];
  __syncthreads();
  int y = blockIdx.y * 32 + threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += 8)
    if (y < rows && blockIdx.x * 32 + j < columns)
      out[(blockIdx.x * 32 + j) * rows + y] = tile[threadIdx.x][j];
}

extern "C" __global__ void histogram(const unsigned char *in, unsigned *out, int n) {
  __shared__ unsigned bins[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    bins[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[in[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    if (bins[i])
      atomicAdd(&out[i], bins[i]);
}

// Inclusive scan of one block's elements, in dynamic shared memory.
extern "C" __global__ void scan(const int *in, int *out) {
  extern __shared__ int values[];
  int t = threadIdx.x;
  values[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int s = 1; s < blockDim.x; s *= 2) {
    int v = t >= s ? values[t - s] : 0;
    __syncthreads();
    values[t] += v;
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + t] = values[t];
}

extern "C" __global__ void bitonic(int *data) {
  extern __shared__ int values[];
  int t = threadIdx.x;
  values[t] = data[t];
  __syncthreads();
  for (int k = 2; k <= blockDim.x; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      int other = t ^ j;
      if (other > t && ((t & k) == 0) == (values[t] > values[other])) {
        int v = values[t];
        values[t] = values[other];
        values[other] = v;
      }
      __syncthreads();
    }
  data[t] = values[t];
}

extern "C" __global__ void groups(const int *in, int *out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  int v = in[block.thread_rank()];
  for (int s = tile.size() / 2; s; s /= 2)
    v += tile.shfl_down(v, s);
  v = tile.shfl(v, 0);
  if (in[block.thread_rank()] & 1) {
    cg::coalesced_group active = cg::coalesced_threads();
    v += 1000 * active.size() + active.thread_rank();
  }
  out[block.thread_rank()] = v;
}

// Every block waits for all others, twice.
extern "C" __global__ void gridsync(int *data, int n) {
  cg::grid_group grid = cg::this_grid();
  int i = grid.thread_rank();
  data[i] = i;
  grid.sync();
  int v = data[(i + 1) % n];
  grid.sync();
  data[i] = v * 2;
}

extern "C" __global__ void divergent(const int *in, int *out) {
  int t = threadIdx.x, v = in[t];
  unsigned odd = __ballot_sync(~0u, v & 1);
  if (v & 1) {
    for (int k = 0; k < 3; k++)
      v += __shfl_sync(odd, v, __ffs(odd) - 1);
  } else {
    v = __shfl_xor_sync(~odd, v, 0) * 2;
    __syncwarp(~odd);
    v -= __popc(__ballot_sync(~odd, v > 4));
  }
  out[t] = v;
}

extern "C" __global__ void votes(const int *in, int *out) {
  int t = threadIdx.x;
  int c = __syncthreads_count(in[t] & 1), a = __syncthreads_and(in[t] < 1000), o = __syncthreads_or(in[t] == 7);
  unsigned same = __match_any_sync(~0u, in[t] % 4);
  out[t] = c + a * 100000 + o * 1000000 + 2000000 * __popc(same);
}

// A lock taken by every thread of a warp: needs threads of a warp to progress on their own.
extern "C" __global__ void spinlock(int *lock, int *count, int rounds) {
  for (int i = 0; i < rounds; i++) {
    while (atomicCAS(lock, 0, 1) != 0)
      ;
    __threadfence();
    *(volatile int *)count = *(volatile int *)count + 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}

// Two halves of a block meet at named barriers.
extern "C" __global__ void named(int *out) {
  __shared__ int s[128];
  int w = threadIdx.x / 32;
  s[threadIdx.x] = threadIdx.x;
  if (w < 2) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = s[63 - threadIdx.x];
    asm volatile("bar.arrive 3, 128;" ::: "memory");
  } else {
    asm volatile("bar.sync 2, 64;" ::: "memory");
    int v = s[64 + 127 - threadIdx.x];
    asm volatile("bar.sync 3, 128;" ::: "memory");
    out[threadIdx.x] = v + s[0] + s[63];
  }
}

// Copies through shared memory with cp.async where there is one.
extern "C" __global__ void pipeline(const float4 *in, float4 *out, int tiles) {
  __shared__ float4 stage[2][64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&stage[0][t], &in[t], 16);
  __pipeline_commit();
  for (int k = 0; k < tiles; k++) {
    if (k + 1 < tiles) {
      __pipeline_memcpy_async(&stage[(k + 1) & 1][t], &in[(k + 1) * 64 + t], 16);
      __pipeline_commit();
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    float4 v = stage[k & 1][63 - t];
    out[k * 64 + t] = make_float4(v.w, v.z, v.y, v.x);
    __syncthreads();
  }
}
