// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of the kind that CUDA's samples and courses teach: dense arithmetic, stencils, sorting. No launch bounds and
// scalars wherever their authors like them, as people write them. samples_test.cpp has the references.
#include <cuda_pipeline.h>
#include <mma.h>

#include <cstdint>

extern "C" __global__ void sgemm_naive(int m, int n, int k, float alpha, const float *a, const float *b, float beta,
                                       float *c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n)
    return;
  float sum = 0;
  for (int i = 0; i < k; ++i)
    sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = alpha * sum + beta * c[row * n + column];
}

// 64 x 64 of C to a block of 256, 4 x 4 to a thread, A transposed on its way to shared memory, float4 throughout.
extern "C" __global__ void __launch_bounds__(256)
    sgemm_blocked(int m, int n, int k, float alpha, const float *a, const float *b, float beta, float *c) {
  constexpr int kTile = 64, kDepth = 16;
  __shared__ float as[kDepth][kTile + 4], bs[kDepth][kTile];
  const int thread = threadIdx.x, row = thread / 16 * 4, column = thread % 16 * 4;
  a += size_t(blockIdx.y) * kTile * k;
  b += blockIdx.x * kTile;
  c += size_t(blockIdx.y) * kTile * n + blockIdx.x * kTile;
  float sums[4][4] = {};
  for (int at = 0; at < k; at += kDepth) {
    const float4 fromA = *reinterpret_cast<const float4 *>(a + thread / 4 * k + at + thread % 4 * 4);
    as[thread % 4 * 4 + 0][thread / 4] = fromA.x;
    as[thread % 4 * 4 + 1][thread / 4] = fromA.y;
    as[thread % 4 * 4 + 2][thread / 4] = fromA.z;
    as[thread % 4 * 4 + 3][thread / 4] = fromA.w;
    *reinterpret_cast<float4 *>(&bs[thread / 16][thread % 16 * 4]) =
        *reinterpret_cast<const float4 *>(b + size_t(at + thread / 16) * n + thread % 16 * 4);
    __syncthreads();
    for (int i = 0; i < kDepth; ++i)
      for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 4; ++x)
          sums[y][x] += as[i][row + y] * bs[i][column + x];
    __syncthreads();
  }
  for (int y = 0; y < 4; ++y) {
    float4 *to = reinterpret_cast<float4 *>(c + (row + y) * n + column);
    float4 old = *to;
    *to = {alpha * sums[y][0] + beta * old.x, alpha * sums[y][1] + beta * old.y, alpha * sums[y][2] + beta * old.z,
           alpha * sums[y][3] + beta * old.w};
  }
}

template <int Size> __device__ void multiply(float *c, const float *a, const float *b, int widthA, int widthB) {
  __shared__ float as[Size][Size], bs[Size][Size];
  const int x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (int at = 0; at < widthA; at += Size) {
    as[y][x] = a[(blockIdx.y * Size + y) * widthA + at + x];
    bs[y][x] = b[(at + y) * widthB + blockIdx.x * Size + x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Size; ++i)
      sum += as[y][i] * bs[i][x];
    __syncthreads();
  }
  c[(blockIdx.y * Size + y) * widthB + blockIdx.x * Size + x] = sum;
}
extern "C" __global__ void matrix_multiply(float *c, const float *a, const float *b, int widthA, int widthB) {
  multiply<16>(c, a, b, widthA, widthB);
}

extern "C" __global__ void tensor_core_gemm(int m, int n, int k, const half *a, const half *b, float *c, float alpha) {
  using namespace nvcuda;
  const int row = blockIdx.y * 16, column = (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 16;
  if (row >= m || column >= n)
    return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.f);
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(fa, a + row * k + i, k);
    wmma::load_matrix_sync(fb, b + i * n + column, n);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  for (int i = 0; i < sum.num_elements; ++i)
    sum.x[i] *= alpha;
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

// The next tile is on its way while this one is summed.
extern "C" __global__ void async_row_sums(unsigned columns, const float4 *in, float *out) {
  __shared__ float4 stage[2][64];
  __shared__ float partial[64];
  const unsigned t = threadIdx.x, tiles = columns / 256;
  in += size_t(blockIdx.x) * columns / 4;
  __pipeline_memcpy_async(&stage[0][t], in + t, 16);
  __pipeline_commit();
  float sum = 0;
  for (unsigned tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles)
      __pipeline_memcpy_async(&stage[(tile + 1) % 2][t], in + (tile + 1) * 64 + t, 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    const float4 v = stage[tile % 2][63 - t];
    sum += (v.x + v.y) + (v.z + v.w);
    __syncthreads();
  }
  partial[t] = sum;
  __syncthreads();
  for (unsigned half = 32; half > 0; half /= 2) {
    if (t < half)
      partial[t] += partial[t + half];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = partial[0];
}

extern "C" __global__ void transpose_padded(float *out, const float *in, int width, int height) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < width && y + j < height)
      tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < height && y + j < width)
      out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

__constant__ float kWeights[9] = {0.02f, 0.05f, 0.12f, 0.18f, 0.26f, 0.18f, 0.12f, 0.05f, 0.02f};

// One row to a block in y; halo columns on both sides.
extern "C" __global__ void convolve_rows(int width, int height, const float *in, float *out) {
  extern __shared__ float row[];
  const int x0 = blockIdx.x * blockDim.x, y = blockIdx.y;
  for (int i = threadIdx.x; i < int(blockDim.x) + 8; i += blockDim.x) {
    const int x = x0 + i - 4;
    row[i] = x >= 0 && x < width ? in[y * width + x] : 0.f;
  }
  __syncthreads();
  const int x = x0 + threadIdx.x;
  if (x >= width)
    return;
  float sum = 0;
  for (int j = 0; j < 9; ++j)
    sum += kWeights[8 - j] * row[threadIdx.x + j];
  out[y * width + x] = sum;
}

struct StencilWeights {
  float at[5];
};

// Marches along z with the column in registers, a plane with its halo in shared memory.
extern "C" __global__ void fdtd_3d(StencilWeights weights, int nx, int ny, int nz, float *out, const float *in) {
  __shared__ float plane[8 + 8][16 + 8];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const size_t layer = size_t(nx) * ny, at = size_t(y) * nx + x;
  float ring[9];
  for (int i = 0; i < 8; ++i)
    ring[i + 1] = in[at + i * layer];
  for (int z = 4; z < nz - 4; ++z) {
    for (int i = 0; i < 8; ++i)
      ring[i] = ring[i + 1];
    ring[8] = in[at + (z + 4) * layer];
    __syncthreads();
    plane[threadIdx.y + 4][threadIdx.x + 4] = ring[4];
    const float *here = in + z * layer;
    if (threadIdx.y < 4) {
      plane[threadIdx.y][threadIdx.x + 4] = y >= 4 ? here[at - 4 * nx] : 0.f;
      plane[threadIdx.y + 12][threadIdx.x + 4] = y + 8 < ny ? here[at + 8 * nx] : 0.f;
    }
    if (threadIdx.x < 4) {
      plane[threadIdx.y + 4][threadIdx.x] = x >= 4 ? here[at - 4] : 0.f;
      plane[threadIdx.y + 4][threadIdx.x + 20] = x + 16 < nx ? here[at + 16] : 0.f;
    }
    __syncthreads();
    float sum = weights.at[0] * ring[4];
    for (int r = 1; r <= 4; ++r)
      sum +=
          weights.at[r] * (ring[4 - r] + ring[4 + r] + plane[threadIdx.y + 4 - r][threadIdx.x + 4] +
                           plane[threadIdx.y + 4 + r][threadIdx.x + 4] + plane[threadIdx.y + 4][threadIdx.x + 4 - r] +
                           plane[threadIdx.y + 4][threadIdx.x + 4 + r]);
    out[at + z * layer] = sum;
  }
}

extern "C" __global__ void n_body(unsigned count, float softening, float step, const float4 *positions, float4 *next,
                                  float4 *velocities) {
  extern __shared__ float4 tile[];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 me = i < count ? positions[i] : float4{};
  float3 pull = {};
  for (unsigned start = 0; start < count; start += blockDim.x) {
    if (start + threadIdx.x < count)
      tile[threadIdx.x] = positions[start + threadIdx.x];
    __syncthreads();
    for (unsigned j = 0; j < blockDim.x && start + j < count; ++j) {
      const float x = tile[j].x - me.x, y = tile[j].y - me.y, z = tile[j].z - me.z;
      const float inverse = rsqrtf(x * x + y * y + z * z + softening), s = tile[j].w * inverse * inverse * inverse;
      pull.x += x * s, pull.y += y * s, pull.z += z * s;
    }
    __syncthreads();
  }
  if (i >= count)
    return;
  float4 v = velocities[i];
  v.x += pull.x * step, v.y += pull.y * step, v.z += pull.z * step;
  velocities[i] = v;
  next[i] = {me.x + v.x * step, me.y + v.y * step, me.z + v.z * step, me.w};
}

extern "C" __global__ void mandelbrot(uchar4 *image, int width, int height, int limit, double left, double top,
                                      double scale) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height)
    return;
  const double cx = left + x * scale, cy = top + y * scale;
  double zx = 0, zy = 0;
  int count = 0;
  while (count < limit && zx * zx + zy * zy < 4) {
    const double now = zx * zx - zy * zy + cx;
    zy = 2 * zx * zy + cy;
    zx = now;
    ++count;
  }
  const unsigned char shade = count == limit ? 0 : 255 * count / limit;
  image[y * width + x] = make_uchar4(shade, shade / 2, 255 - shade, 255);
}

__device__ void exchange(uint32_t &ka, uint32_t &va, uint32_t &kb, uint32_t &vb, bool up) {
  if ((ka > kb) == up) {
    uint32_t k = ka, v = va;
    ka = kb, va = vb, kb = k, vb = v;
  }
}
extern "C" __global__ void bitonic_sort(uint32_t *keys, uint32_t *values, const uint32_t *keysIn,
                                        const uint32_t *valuesIn, uint32_t length, uint32_t up) {
  __shared__ uint32_t k[512], v[512];
  const unsigned t = threadIdx.x, base = blockIdx.x * 512;
  k[t] = keysIn[base + t], v[t] = valuesIn[base + t];
  k[t + 256] = keysIn[base + t + 256], v[t + 256] = valuesIn[base + t + 256];
  for (unsigned size = 2; size <= length; size *= 2)
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const unsigned at = 2 * t - (t & (stride - 1));
      const bool direction = size == length ? up : (t & (size / 2)) == 0;
      exchange(k[at], v[at], k[at + stride], v[at + stride], direction);
    }
  __syncthreads();
  keys[base + t] = k[t], values[base + t] = v[t];
  keys[base + t + 256] = k[t + 256], values[base + t + 256] = v[t + 256];
}

__device__ float normalTail(float d) {
  const float k = 1 / (1 + 0.2316419f * fabsf(d));
  const float tail =
      0.39894228f * expf(-0.5f * d * d) *
      (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1 - tail : tail;
}
extern "C" __global__ void black_scholes(float2 *call, float2 *put, const float2 *price, const float2 *strike,
                                         const float2 *years, float rate, float volatility, int pairs) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += gridDim.x * blockDim.x) {
    const float s[2] = {price[i].x, price[i].y}, x[2] = {strike[i].x, strike[i].y}, t[2] = {years[i].x, years[i].y};
    float c[2], p[2];
    for (int j = 0; j < 2; ++j) {
      const float root = sqrtf(t[j]),
                  d1 = (logf(s[j] / x[j]) + (rate + 0.5f * volatility * volatility) * t[j]) / (volatility * root);
      const float n1 = normalTail(d1), n2 = normalTail(d1 - volatility * root), discounted = x[j] * expf(-rate * t[j]);
      c[j] = s[j] * n1 - discounted * n2;
      p[j] = discounted * (1 - n2) - s[j] * (1 - n1);
    }
    call[i] = {c[0], c[1]};
    put[i] = {p[0], p[1]};
  }
}

// Direction numbers for each dimension; a thread walks the sequence in a power of two, by Gray code.
extern "C" __global__ void sobol(unsigned vectors, unsigned dimensions, unsigned *directions, float *out) {
  __shared__ unsigned v[32];
  directions += 32 * blockIdx.y;
  out += vectors * blockIdx.y;
  if (threadIdx.x < 32)
    v[threadIdx.x] = directions[threadIdx.x];
  __syncthreads();
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
  unsigned gray = first ^ (first >> 1), x = 0;
  for (unsigned k = 0; k < __ffs(stride) - 1; ++k)
    x ^= gray >> k & 1 ? v[k] : 0;
  if (first < vectors)
    out[first] = int(x) * 2.3283064365386963e-10f;
  const unsigned mask = v[__ffs(stride) - 2];
  for (unsigned i = first + stride; i < vectors; i += stride) {
    x ^= mask ^ v[__ffs(~((i - stride) | (stride - 1))) - 1];
    out[i] = int(x) * 2.3283064365386963e-10f;
  }
}
