// Kernels that do not end, or only where nobody looks.
#include <tenon/kernel.cuh>

#define INDEX (int(blockIdx.x * blockDim.x + threadIdx.x))

// Waits for a value that nobody writes.
extern "C" __global__ void never_ends(const float *in, float *out, int n) {
  volatile float *flag = out;
  if (INDEX < n)
    while (flag[INDEX] != 12345.0f) {
    }
}
TENON_KERNEL(never_ends, TENON_WORKGROUP(64), TENON_READ(const float *, in), TENON_WRITE(float *, out),
             TENON_CONSTANT(int, n));

// Half of the block goes around the barrier.
extern "C" __global__ void around_a_barrier(const float *in, float *out, int n) {
  if (threadIdx.x < 32)
    __syncthreads();
  if (INDEX < n)
    out[INDEX] = in[INDEX];
}
TENON_KERNEL(around_a_barrier, TENON_WORKGROUP(64), TENON_READ(const float *, in), TENON_WRITE(float *, out),
             TENON_CONSTANT(int, n));
