// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that the emulator's speed is measured with: one of each way in which real kernels spend their instructions.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

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

// ---- memory and arithmetic, element by element

extern "C" __global__ void multiply(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i] * b[i];
}

extern "C" __global__ void multiply4(const float4 *a, const float4 *b, float4 *c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 x = a[i], y = b[i];
    c[i] = make_float4(x.x * y.x, x.y * y.y, x.z * y.z, x.w * y.w);
  }
}

extern "C" __global__ void rational64(double a, const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = fma(a, x[i], y[i]) / (1.0 + x[i] * x[i]);
}

extern "C" __global__ void copies(const float *in, float *out) { // what a launch costs
  out[blockIdx.x * blockDim.x + threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
}

// ---- reductions

extern "C" __global__ void softmaxWarp(const float *in, float *out, int rows, int columns) { // a warp per row
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows)
    return;
  const float *from = in + row * columns;
  float m = -INFINITY, s = 0;
  for (int c = threadIdx.x; c < columns; c += 32)
    m = fmaxf(m, from[c]);
  m = warpMax(m);
  for (int c = threadIdx.x; c < columns; c += 32)
    s += __expf(from[c] - m);
  s = warpSum(s);
  for (int c = threadIdx.x; c < columns; c += 32)
    out[row * columns + c] = expf(from[c] - m) / s;
}

extern "C" __global__ void softmaxBlock(const float *in, float *out, int columns) { // a block per row
  __shared__ float partial[32];
  const float *from = in + blockIdx.x * columns;
  float *to = out + blockIdx.x * columns;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  float m = -INFINITY, s = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    m = fmaxf(m, from[c]);
  m = warpMax(m);
  if (lane == 0)
    partial[warp] = m;
  __syncthreads();
  if (warp == 0) {
    float v = warpMax(lane < warps ? partial[lane] : -INFINITY);
    if (lane == 0)
      partial[0] = v;
  }
  __syncthreads();
  m = partial[0];
  __syncthreads();
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    float e = expf(from[c] - m);
    to[c] = e;
    s += e;
  }
  s = warpSum(s);
  if (lane == 0)
    partial[warp] = s;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < warps; i++)
    sum += partial[i];
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    to[c] /= sum;
}

extern "C" __global__ void layernorm(const float *x, const float *gain, const float *bias, float *y, int columns) {
  extern __shared__ float row[];
  __shared__ float sums[32], squares[32];
  float s = 0, q = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    float v = x[blockIdx.x * columns + i];
    row[i] = v;
    s += v;
    q += v * v;
  }
  s = warpSum(s);
  q = warpSum(q);
  if (threadIdx.x % 32 == 0) {
    sums[threadIdx.x / 32] = s;
    squares[threadIdx.x / 32] = q;
  }
  __syncthreads();
  s = q = 0;
  for (int i = 0; i < blockDim.x / 32; i++) {
    s += sums[i];
    q += squares[i];
  }
  float mean = s / columns, scale = rsqrtf(q / columns - mean * mean + 1e-5f);
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    y[blockIdx.x * columns + i] = (row[i] - mean) * scale * gain[i] + bias[i];
}

extern "C" __global__ void scan(const int *in, int *out, int n) { // inclusive, of each block
  __shared__ int sums[32];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, v = i < n ? in[i] : 0;
  for (int s = 1; s < 32; s *= 2) {
    int u = __shfl_up_sync(~0u, v, s);
    if (t % 32 >= s)
      v += u;
  }
  if (t % 32 == 31)
    sums[t / 32] = v;
  __syncthreads();
  if (t < 32) {
    int w = t < blockDim.x / 32 ? sums[t] : 0;
    for (int s = 1; s < 32; s *= 2) {
      int u = __shfl_up_sync(~0u, w, s);
      if (t >= s)
        w += u;
    }
    sums[t] = w;
  }
  __syncthreads();
  if (t >= 32)
    v += sums[t / 32 - 1];
  if (i < n)
    out[i] = v;
}

extern "C" __global__ void groupReduce(const float *in, float *out, int n) {
  cg::thread_block block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto eight = cg::tiled_partition<8>(warp);
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + block.thread_rank(); i < n; i += gridDim.x * blockDim.x)
    v += in[i];
  for (int s = 4; s; s /= 2)
    v += eight.shfl_xor(v, s);
  if (eight.thread_rank() == 0)
    atomicAdd(out, v);
  block.sync();
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
    atomicAdd(&out[i], bins[i]);
}

// ---- tiles in shared memory

template <int T> __device__ void multiplyTiles(const float *a, const float *b, float *c, int m, int n, int k) {
  __shared__ float ta[T][T + 1], tb[T][T];
  int row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < k; t += T) {
    ta[threadIdx.y][threadIdx.x] = row < m && t + threadIdx.x < k ? a[row * k + t + threadIdx.x] : 0;
    tb[threadIdx.y][threadIdx.x] = t + threadIdx.y < k && column < n ? b[(t + threadIdx.y) * n + column] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < T; i++)
      sum = fmaf(ta[threadIdx.y][i], tb[i][threadIdx.x], sum);
    __syncthreads();
  }
  if (row < m && column < n)
    c[row * n + column] = sum;
}
extern "C" __global__ void __launch_bounds__(256)
    matmul16(const float *a, const float *b, float *c, int m, int n, int k) {
  multiplyTiles<16>(a, b, c, m, n, k);
}
extern "C" __global__ void __launch_bounds__(1024)
    matmul32(const float *a, const float *b, float *c, int m, int n, int k) {
  multiplyTiles<32>(a, b, c, m, n, k);
}

// 32 x 64 of C by 256 threads; two stages of cp.async.
extern "C" __global__ void matmulAsync(const float *a, const float *b, float *c, int m, int n, int k) {
  __shared__ __align__(16) float ta[2][32 * 16], tb[2][16 * 64];
  int t = threadIdx.x, row = blockIdx.y * 32, column = blockIdx.x * 64;
  float sum[2][4] = {};
  auto load = [&](int stage, int from) {
    if (t < 128)
      __pipeline_memcpy_async(&ta[stage][t * 4], a + (row + t / 4) * k + from + t % 4 * 4, 16);
    __pipeline_memcpy_async(&tb[stage][t * 4], b + (from + t / 16) * n + column + t % 16 * 4, 16);
    __pipeline_commit();
  };
  load(0, 0);
  int r = t / 16 * 2, s = t % 16 * 4;
  for (int from = 0, stage = 0; from < k; from += 16, stage ^= 1) {
    if (from + 16 < k)
      load(stage ^ 1, from + 16);
    else
      __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    for (int i = 0; i < 16; i++) {
      float4 y = *(float4 *)&tb[stage][i * 64 + s];
      for (int j = 0; j < 2; j++) {
        float x = ta[stage][(r + j) * 16 + i];
        sum[j][0] += x * y.x;
        sum[j][1] += x * y.y;
        sum[j][2] += x * y.z;
        sum[j][3] += x * y.w;
      }
    }
    __syncthreads();
  }
  for (int j = 0; j < 2; j++)
    *(float4 *)&c[(row + r + j) * n + column + s] = *(float4 *)sum[j];
}

extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < width && y + j < height)
      tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < height && y + j < width)
      out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// ---- matrix instructions: 16 x 16 of C by a warp

extern "C" __global__ void matmulWmma(const half *a, const half *b, float *c, int n, int k) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.f);
  for (int t = 0; t < k; t += 16) {
    wmma::load_matrix_sync(x, a + blockIdx.y * 16 * k + t, k);
    wmma::load_matrix_sync(y, b + blockIdx.x * 16 * k + t, k);
    wmma::mma_sync(sum, x, y, sum);
  }
  wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, wmma::mem_row_major);
}

extern "C" __global__ void matmulMma(const half *a, const half *b, float *c, int n, int k) { // 16 x 8
  __shared__ __align__(16) half ta[16 * 16], tb[16 * 8];
  int l = threadIdx.x;
  float d[4] = {};
  for (int t = 0; t < k; t += 16) {
    *(int4 *)&ta[l * 8] = *(const int4 *)&a[(blockIdx.y * 16 + l / 2) * k + t + l % 2 * 8];
    if (l < 16)
      *(int4 *)&tb[l * 8] = *(const int4 *)&b[(t + l) * n + blockIdx.x * 8];
    __syncwarp();
    unsigned a0, a1, a2, a3, b0, b1;
    unsigned pa = __cvta_generic_to_shared(&ta[l % 16 * 16 + l / 16 * 8]);
    unsigned pb = __cvta_generic_to_shared(&tb[l % 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
                 : "=r"(a0), "=r"(a1), "=r"(a2), "=r"(a3)
                 : "r"(pa));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1},[%2];" : "=r"(b0), "=r"(b1) : "r"(pb));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    __syncwarp();
  }
  int row = blockIdx.y * 16 + l / 4, column = blockIdx.x * 8 + l % 4 * 2;
  *(float2 *)&c[row * n + column] = make_float2(d[0], d[1]);
  *(float2 *)&c[(row + 8) * n + column] = make_float2(d[2], d[3]);
}

// ---- arithmetic

extern "C" __global__ void halves(const half2 *a, const half2 *b, half2 *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  half2 x = a[i], y = b[i], z = __hfma2(x, y, __hadd2(x, h2exp(y)));
  z = __hmul2(__hmax2(z, h2rcp(x)), __float2half2_rn(0.5f));
  c[i] = __hmin2(__hsub2(z, __hneg2(__habs2(y))), h2rsqrt(y));
}

extern "C" __global__ void gelu(const half *x, half *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = __half2float(x[i]), cubic = 0.044715f * v * v * v;
  y[i] = __float2half(0.5f * v * (1 + tanhf(0.79788456f * (v + cubic))));
}

extern "C" __global__ void specials(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = x[i];
  y[i] = expf(v) + tanhf(v) + rsqrtf(v) + sqrtf(v) + logf(v) + sinf(v) + cosf(v) + powf(v, 1.7f) + erff(v) + log1pf(v) +
         fmodf(v, 0.3f) + 1.0f / v + __sinf(v) + __powf(v, 2.f) + atan2f(v, 2.f) + cbrtf(v);
}

extern "C" __global__ void specials64(const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  double v = x[i];
  y[i] = exp(v) + tanh(v) + rsqrt(v) + sqrt(v) + log(v) + sin(v) + pow(v, 1.7) + erf(v) + 1.0 / v;
}

extern "C" __global__ void integers(const long long *a, const long long *b, long long *c, const unsigned *d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned u = d[i], v = d[n - 1 - i] | 1;
  long long x = a[i], y = b[i] | 1;
  c[i] = x / y + x % y + (long long)((unsigned long long)x / (unsigned long long)y) + u / v + u % v + u / 7 +
         __umulhi(u, v) + __funnelshift_l(u, v, 5) + __byte_perm(u, v, 0x1234) + __popcll(x) + __clzll(x) + (x >> 5) +
         (y << 7) + __umul64hi(x, y) + __dp4a((int)u, (int)v, 3);
}

// ---- local memory, constants, calls

extern "C" __global__ void locals(const int *index, float *out, int n) {
  float values[64];
  for (int i = 0; i < 64; i++)
    values[i] = i * 0.5f + threadIdx.x;
  for (int i = 0; i < n; i++)
    values[index[i] & 63] += values[index[i + 1] & 63];
  float s = 0;
  for (int i = 0; i < 64; i++)
    s += values[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

__constant__ float table[256] = {1, 2, 3};
extern "C" __global__ void constants(const unsigned char *in, float *out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = table[in[i]] * 5 + table[i & 3];
}

__device__ __noinline__ int factorial(int n) {
  return n <= 1 ? 1 : n * factorial(n - 1);
}
extern "C" __global__ void recursion(int *out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = factorial(8 + threadIdx.x % 2);
}
