// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose blocks need each other: a stencil with halos, a scan that looks back over earlier blocks, a sum that
// the last block finishes, work taken from a queue.
extern "C" __global__ void stencil(const float *in, float *out, int width, int height) { // 16 x 16 threads
  __shared__ float tile[18][18];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  auto at = [&](int i, int j) {
    i = min(max(i, 0), width - 1);
    j = min(max(j, 0), height - 1);
    return in[j * width + i];
  };
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  tile[ty][tx] = at(x, y);
  if (threadIdx.x == 0)
    tile[ty][0] = at(x - 1, y);
  if (threadIdx.x == 15)
    tile[ty][17] = at(x + 1, y);
  if (threadIdx.y == 0)
    tile[0][tx] = at(x, y - 1);
  if (threadIdx.y == 15)
    tile[17][tx] = at(x, y + 1);
  __syncthreads();
  if (x < width && y < height)
    out[y * width + x] = tile[ty][tx] * 4 - tile[ty][tx - 1] - tile[ty][tx + 1] - tile[ty - 1][tx] - tile[ty + 1][tx];
}

// Inclusive scan of everything in one pass. state: per block 0 nothing yet, 1 its own sum, 2 the sum up to its end; the
// blocks' order is that in which they start.
extern "C" __global__ void lookBack(const int *in, int *out, unsigned *ticket, volatile int *state, volatile int *sums,
                                    volatile int *totals) { // 128 threads
  __shared__ int warps[4], before;
  __shared__ unsigned number;
  int t = threadIdx.x;
  if (t == 0)
    number = atomicAdd(ticket, 1);
  __syncthreads();
  int block = number, v = in[block * 128 + t];
  for (int s = 1; s < 32; s *= 2) {
    int u = __shfl_up_sync(~0u, v, s);
    if (t % 32 >= s)
      v += u;
  }
  if (t % 32 == 31)
    warps[t / 32] = v;
  __syncthreads();
  for (int w = 0; w < t / 32; w++)
    v += warps[w];
  if (t == 127) {
    sums[block] = v;
    __threadfence();
    if (block > 0)
      state[block] = 1;
    int earlier = 0;
    for (int b = block - 1; b >= 0; b--) {
      int seen;
      while ((seen = state[b]) == 0)
        ;
      __threadfence();
      if (seen == 2) {
        earlier += totals[b];
        break;
      }
      earlier += sums[b];
    }
    totals[block] = earlier + v;
    __threadfence();
    state[block] = 2;
    before = earlier;
  }
  __syncthreads();
  out[block * 128 + t] = v + before;
}

extern "C" __global__ void lastBlock(const int *in, int *partial, unsigned *count, int *out, int n) {
  __shared__ bool last;
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += in[i];
  for (int s = 16; s; s /= 2)
    sum += __shfl_down_sync(~0u, sum, s);
  if (threadIdx.x == 0) { // blocks of one warp
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (int b = 0; b < gridDim.x; b++)
      total += ((volatile int *)partial)[b];
    *out = total;
  }
}

// Each thread takes numbers until none is left and marks them; `taken` counts how often.
extern "C" __global__ void queue(int *next, int *taken, unsigned long long *sum, float *product, int n) {
  for (;;) {
    int mine = atomicAdd(next, 1);
    if (mine >= n)
      break;
    atomicAdd(&taken[mine], 1);
    atomicAdd(sum, (unsigned long long)mine * mine);
    atomicMax((int *)product, __float_as_int(mine * 0.5f));
  }
}
