// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions, scans, histograms and the like, as samples and courses write them by hand; structs with pointers in them,
// tables of pointers, module variables. patterns_test.cpp has the references.
#include <cstdint>

extern "C" __global__ void reduce_grid_stride(const int *in, int *out, unsigned n) {
  __shared__ int sums[32];
  int sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x * 2 + threadIdx.x; i < n; i += 2 * blockDim.x * gridDim.x) {
    sum += in[i];
    if (i + blockDim.x < n)
      sum += in[i + blockDim.x];
  }
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0)
    sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
    for (int step = 16; step > 0; step /= 2)
      sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x == 0)
      out[blockIdx.x] = sum;
  }
}

__device__ unsigned finishedBlocks = 0;

// The block that finishes last adds what the others left.
extern "C" __global__ void reduce_single_pass(unsigned n, const float *in, volatile float *partial, float *out) {
  __shared__ float sums[128];
  __shared__ bool last;
  float sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    sum += in[i];
  sums[threadIdx.x] = sum;
  for (unsigned half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sums[0];
    __threadfence();
    last = atomicInc(&finishedBlocks, gridDim.x - 1) == gridDim.x - 1; // back to 0 for the next launch
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b)
      total += partial[b];
    *out = total;
  }
}

extern "C" __global__ void shuffle_scan(int *data, int width, int *partialSums) {
  extern __shared__ int sums[];
  const int at = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
  int value = data[at];
#pragma unroll
  for (int i = 1; i <= width; i *= 2) {
    const int other = __shfl_up_sync(~0u, value, i, width);
    if (lane >= i)
      value += other;
  }
  if (lane == warpSize - 1)
    sums[warp] = value;
  __syncthreads();
  if (warp == 0 && lane < blockDim.x / warpSize) {
    int sum = sums[lane];
    const unsigned mask = (1u << blockDim.x / warpSize) - 1;
    for (int i = 1; i <= width; i *= 2) {
      const int other = __shfl_up_sync(mask, sum, i, width);
      if (lane >= i)
        sum += other;
    }
    sums[lane] = sum;
  }
  __syncthreads();
  data[at] = value += warp > 0 ? sums[warp - 1] : 0;
  if (partialSums && threadIdx.x == blockDim.x - 1)
    partialSums[blockIdx.x] = value;
}

// Up and down a tree in shared memory, four values to a thread.
extern "C" __global__ void scan_exclusive(unsigned size, const uint4 *in, uint4 *out) {
  __shared__ unsigned s[512];
  const unsigned at = blockIdx.x * 256 + threadIdx.x;
  uint4 v = in[at];
  v.y += v.x, v.z += v.y, v.w += v.z;
  unsigned position = 2 * threadIdx.x - (threadIdx.x & (size - 1));
  s[position] = 0;
  position += size;
  s[position] = v.w;
  for (unsigned offset = 1; offset < size; offset *= 2) {
    __syncthreads();
    const unsigned sum = s[position] + s[position - offset];
    __syncthreads();
    s[position] = sum;
  }
  const unsigned before = s[position] - v.w;
  out[at] = make_uint4(before, before + v.x, before + v.y, before + v.z);
}

extern "C" __global__ void histogram_256(unsigned count, const unsigned *words, unsigned *histograms) {
  __shared__ unsigned bins[2][256]; // each half of the block has one
  for (unsigned i = threadIdx.x; i < 512; i += blockDim.x)
    (&bins[0][0])[i] = 0;
  __syncthreads();
  unsigned *mine = bins[threadIdx.x / 64];
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x)
    for (int b = 0; b < 32; b += 8)
      atomicAdd(mine + (words[i] >> b & 255), 1);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
    atomicAdd(histograms + i, bins[0][i] + bins[1][i]);
}

extern "C" __global__ void every_atomic(int *at) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(at, 10);
  atomicSub(at + 1, 10);
  atomicExch(at + 2, t);
  atomicMax(at + 3, t);
  atomicMin(at + 4, t);
  atomicInc(reinterpret_cast<unsigned *>(at + 5), 17);
  atomicDec(reinterpret_cast<unsigned *>(at + 6), 137);
  atomicCAS(at + 7, t - 1, t);
  atomicAnd(at + 8, 2 * t + 7);
  atomicOr(at + 9, 1 << t % 31);
  atomicXor(at + 10, t);
}

// Before sm_60 there was no atomicAdd of doubles, and the guide's way is still in use.
__device__ double addDouble(double *address, double value) {
  unsigned long long *bits = reinterpret_cast<unsigned long long *>(address), old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}
extern "C" __global__ void dot_double(int n, double *sum, const double *a, const double *b) {
  __shared__ double products[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  products[threadIdx.x] = i < n ? a[i] * b[i] : 0;
  __syncthreads();
  for (unsigned half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half)
      products[threadIdx.x] += products[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    addDouble(sum, products[0]);
}

extern "C" __global__ void spmv_csr(int rows, const int *begins, const int *columns, const double *values, double alpha,
                                    const double *x, double beta, double *y) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows)
    return;
  double sum = 0;
  for (int i = begins[row] + lane; i < begins[row + 1]; i += 32)
    sum += values[i] * x[columns[i]];
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_xor_sync(~0u, sum, step);
  if (lane == 0)
    y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
}

extern "C" __global__ void walsh_transform(float *out, const float *in, int logSize) {
  extern __shared__ float s[];
  const int size = 1 << logSize, base = blockIdx.x << logSize;
  for (int i = threadIdx.x; i < size; i += blockDim.x)
    s[i] = in[base + i];
  for (int stride = size / 2; stride > 0; stride /= 2) {
    __syncthreads();
    for (int i = threadIdx.x; i < size / 2; i += blockDim.x) {
      const int low = i & (stride - 1), a = (i - low) * 2 + low;
      const float x = s[a], y = s[a + stride];
      s[a] = x + y, s[a + stride] = x - y;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < size; i += blockDim.x)
    out[base + i] = s[i];
}

extern "C" __global__ void vote_groups(const int *in, unsigned *ballots, int *any, int *all, unsigned *match) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = in[t];
  const unsigned ballot = __ballot_sync(~0u, value > 0), same = __match_any_sync(~0u, value);
  any[t] = __any_sync(~0u, value == 7), all[t] = __all_sync(~0u, value >= 0);
  match[t] = same;
  if (threadIdx.x % 32 == 0)
    ballots[t / 32] = ballot;
}

// Structs by value with pointers in them, as libraries of images and matrices pass them.
struct Image {
  const uint8_t *pixels;
  int width, height;
  size_t pitch;
};
struct Target {
  int step;
  uint8_t *pixels;
};
extern "C" __global__ void box_blur(Image in, int radius, Target out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= in.width || y >= in.height)
    return;
  int sum = 0, count = 0;
  for (int j = max(y - radius, 0); j <= min(y + radius, in.height - 1); ++j)
    for (int i = max(x - radius, 0); i <= min(x + radius, in.width - 1); ++i)
      sum += in.pixels[j * in.pitch + i], ++count;
  out.pixels[y * out.step + x] = sum / count;
}

struct Operands {
  const float *a, *b;
  float *c;
  float scale;
  int n;
};
extern "C" __global__ void struct_multiply_add(Operands p) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < p.n; i += blockDim.x * gridDim.x)
    p.c[i] += p.scale * p.a[i] * p.b[i];
}

// A table of pointers in device memory, as batched BLAS takes them.
extern "C" __global__ void batched_axpy(int n, const float *alphas, const float *const *xs, float *const *ys) {
  const float *x = xs[blockIdx.y];
  float *y = ys[blockIdx.y];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    y[i] += alphas[blockIdx.y] * x[i];
}

// Pointers and counts in turn, one of each kind of scalar; one parameter that nothing uses.
extern "C" __global__ void mixed_scalars(int8_t a, const int *in, int64_t step, uint16_t mask, double *out,
                                         float unused, bool negate, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const double value = (in[i * step] & mask) + a;
    out[i] = negate ? -value : value;
  }
}

// Not visible outside its file in C++, and found by the driver all the same.
static __global__ void fill_pattern(int n, unsigned pattern, unsigned *out) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    out[i] = pattern ^ i;
}
void launchPattern(int n, unsigned *out) {
  fill_pattern<<<1, 64>>>(n, 0, out);
}
