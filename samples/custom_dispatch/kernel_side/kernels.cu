// Kernels that declare their own ABI. The declaration stands where the kernel is, the compiler proves it against the
// function, and it travels in the object: see README.md.
//
//   nvcc -std=c++17 -I include -ptx -arch=compute_80 kernels.cu -o kernels_sm_80.ptx
#include <tenon/kernel.cuh>

// y[i] += a * x[i]; one thread per element.
extern "C" __global__ void saxpy(const float *__restrict__ x, float *__restrict__ y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] += a * x[i];
}
TENON_KERNEL(saxpy, TENON_WORKGROUP(128), TENON_READ(const float *, x), TENON_WRITE(float *, y),
             TENON_CONSTANT(float, a), TENON_CONSTANT(int, n));

constexpr unsigned kRowThreads = 64;

// sums[row] = the sum of a row; one workgroup per row, one float of dynamic shared memory per thread.
extern "C" __global__ void row_sums(const float *__restrict__ matrix, float *__restrict__ sums, int columns) {
  extern __shared__ float partial[];
  float sum = 0;
  for (int column = threadIdx.x; column < columns; column += kRowThreads)
    sum += matrix[blockIdx.x * columns + column];
  partial[threadIdx.x] = sum;
  for (unsigned half = kRowThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0)
    sums[blockIdx.x] = partial[0];
}
TENON_KERNEL(row_sums, TENON_WORKGROUP(kRowThreads), TENON_DYNAMIC_SHARED(kRowThreads * sizeof(float)),
             TENON_READ(const float *, matrix), TENON_WRITE(float *, sums), TENON_CONSTANT(int, columns));
