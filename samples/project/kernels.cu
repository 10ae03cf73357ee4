// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "scale.cuh"

#include <tenon/kernel.cuh>

// y[i] += a * x[i]; one thread per element, 128 per block.
extern "C" __global__ void saxpy(const float *__restrict__ x, float *__restrict__ y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] += scaled(x[i], a);
}
TENON_KERNEL(saxpy, TENON_WORKGROUP(128), TENON_READ(const float *, x), TENON_WRITE(float *, y),
             TENON_CONSTANT(float, a), TENON_CONSTANT(int, n));
