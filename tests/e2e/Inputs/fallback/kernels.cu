// Hand-written kernels whose fallbacks are in fallbacks.mlir. The last one computes something else than its fallback.

extern "C" __global__ void multiply(const float *lhs, const float *rhs, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = lhs[i] * rhs[i];
}

// y += a * x, in place
extern "C" __global__ void accumulate(const float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = y[i] + a * x[i];
}

// c[m][n] = a[m][k] * b[k][n]; a thread per element of c, blocks of 8 x 4 in a grid of two dimensions
extern "C" __global__ void product(const float *a, const float *b, float *c, int m, int n, int k) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column >= n)
    return;
  float sum = 0;
  for (int i = 0; i < k; ++i)
    sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = sum;
}

// A struct by value: 24 bytes, its members at 0, 8, 16 and 20.
struct Line {
  bool negative;
  long long size;
  float slope;
  short shift;
};
extern "C" __global__ void line(const float *in, float *out, Line by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < by.size)
    out[i] = (by.negative ? -by.slope : by.slope) * in[i] + float(by.shift);
}

// Doubles, through more shared memory than devices before sm_90 have.
extern "C" __global__ void twice(const float *in, float *out, int n) {
  extern __shared__ float kept[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  kept[threadIdx.x + 50000] = i < n ? 2 * in[i] : 0;
  __syncthreads();
  if (i < n)
    out[i] = kept[threadIdx.x + 50000];
}

// Doubles, in clusters of two workgroups, each of which asks for its place.
extern "C" __global__ void __cluster_dims__(2, 1, 1) twice_in_pairs(const float *in, float *out, int n) {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  int i = (blockIdx.x / 2 * 2 + rank) * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = 2 * in[i];
}

// Forgets the sign; its fallback does not.
extern "C" __global__ void negate(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i];
}
