// Dynamic shared memory, beside static and on its own.
extern "C" __global__ void reverse_tile(float *data) {
  extern __shared__ float tile[];
  unsigned i = threadIdx.x, n = blockDim.x;
  tile[i] = data[blockIdx.x * n + i];
  __syncthreads();
  data[blockIdx.x * n + i] = tile[n - 1 - i];
}

__device__ __noinline__ float partial(const float *in, int n) {
  extern __shared__ char scratch[];
  float *sums = reinterpret_cast<float *>(scratch);
  sums[threadIdx.x] = threadIdx.x < n ? in[threadIdx.x] : 0;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  return sums[0];
}

extern "C" __global__ void row_sums(const float *in, float *out, int n) {
#ifdef TWIN_LARGE
  __shared__ float staged[13000]; // 52000 bytes
#else
  __shared__ float staged[1024];
#endif
  staged[threadIdx.x] = partial(in + blockIdx.x * n, n);
  __syncthreads();
  if (threadIdx.x == 0)
    out[blockIdx.x] = staged[blockIdx.x % 32];
}
