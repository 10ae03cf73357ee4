// The kernels of this project. Signatures say what tests and calls need: `const T *` is only read.

// y = a * x + y
extern "C" __global__ void __launch_bounds__(128) saxpy(const float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] += a * x[i];
}

// The sum of each row: a block of 128 threads for a row.
extern "C" __global__ void __launch_bounds__(128) row_sums(const float *x, float *sums, int columns) {
  __shared__ float partial[128];
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    sum += x[blockIdx.x * columns + i];
  partial[threadIdx.x] = sum;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads(); // without it the emulator reports a race, with both threads and lines
    if (threadIdx.x < half)
      partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0)
    sums[blockIdx.x] = partial[0];
}
