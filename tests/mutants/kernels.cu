// Kernels for mutation that tests/kernels does not have: a tree reduction in shared memory and a stencil with a halo.

// One block: the sum of blockDim.x elements, a power of two.
extern "C" __global__ void tree_sum(const int *in, int *out) {
  __shared__ int values[256];
  int t = threadIdx.x;
  values[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s)
      values[t] += values[t + s];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = values[0];
}

// out[i] = in[i-2] + .. + in[i+2], zero beyond the ends; blocks of 128 threads.
extern "C" __global__ void stencil(const float *in, float *out, int n) {
  __shared__ float tile[128 + 4];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  tile[t + 2] = i < n ? in[i] : 0.0f;
  if (t < 2)
    tile[t] = i >= 2 ? in[i - 2] : 0.0f;
  if (t >= 126)
    tile[t + 4] = i + 2 < n ? in[i + 2] : 0.0f;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 5; k++)
    sum += tile[t + k];
  if (i < n)
    out[i] = sum;
}
