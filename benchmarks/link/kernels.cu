// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ten kernels of the usual kinds, which generate.py repeats under other names.
extern "C" __global__ void multiply(const float *a, const float *b, float *out, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size)
    out[i] = a[i] * b[i];
}
extern "C" __global__ void axpy(const float4 *a, float4 *out, float factor, int size) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x) {
    float4 v = a[i], w = out[i];
    out[i] = make_float4(factor * v.x + w.x, factor * v.y + w.y, factor * v.z + w.z, factor * v.w + w.w);
  }
}
extern "C" __global__ void row_sum(const float *a, float *out, int size) {
  __shared__ float sums[128];
  float sum = 0;
  for (int i = threadIdx.x; i < size; i += 128)
    sum += a[blockIdx.x * size + i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half)
      sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = sums[0];
}
extern "C" __global__ void transpose(const float *a, float *out, int rows, int columns) {
  __shared__ float tile[8][17];
  int x = blockIdx.x * 16 + threadIdx.x % 16, y = blockIdx.y * 8 + threadIdx.x / 16;
  if (x < columns && y < rows)
    tile[threadIdx.x / 16][threadIdx.x % 16] = a[y * columns + x];
  __syncthreads();
  if (x < columns && y < rows)
    out[x * rows + y] = tile[threadIdx.x / 16][threadIdx.x % 16];
}
extern "C" __global__ void softmax(const float *a, float *out, int size) {
  float most = -1e30f, sum = 0;
  for (int i = 0; i < size; ++i)
    most = fmaxf(most, a[threadIdx.x * size + i]);
  for (int i = 0; i < size; ++i)
    sum += __expf(a[threadIdx.x * size + i] - most);
  for (int i = 0; i < size; ++i)
    out[threadIdx.x * size + i] = __expf(a[threadIdx.x * size + i] - most) / sum;
}
extern "C" __global__ void gelu(const float *a, float *out, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size)
    out[i] = 0.5f * a[i] * (1 + tanhf(0.79788456f * (a[i] + 0.044715f * a[i] * a[i] * a[i])));
}
extern "C" __global__ void histogram(const unsigned *a, unsigned *out, int size) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x)
    atomicAdd(&out[a[i] & 255], 1u);
}
extern "C" __global__ void product(const float *a, const float *b, float *out, int n, int k) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  float sum = 0;
#pragma unroll 8
  for (int i = 0; i < k; ++i)
    sum += a[y * k + i] * b[i * n + x];
  out[y * n + x] = sum;
}
extern "C" __global__ void stencil(const double *a, double *out, int rows, int columns) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x > 0 && y > 0 && x < columns - 1 && y < rows - 1)
    out[y * columns + x] = 0.2 * (a[y * columns + x] + a[y * columns + x - 1] + a[y * columns + x + 1] +
                                  a[(y - 1) * columns + x] + a[(y + 1) * columns + x]);
}
extern "C" __global__ void gather(const long long *a, const float *b, float *out, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size)
    out[i] = a[i] < 0 ? 0.f : b[a[i]];
}
