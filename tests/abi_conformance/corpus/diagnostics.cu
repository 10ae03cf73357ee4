// printf, assert, malloc and __trap: what the driver itself brings, and what it does not.
#include <cassert>
#include <cstdio>
#ifdef TWIN_EXTERN
extern __device__ float checked(float);
#else
static __device__ __noinline__ float checked(float x) {
  assert(x >= 0 && "negative");
  return sqrtf(x);
}
#endif
extern "C" __global__ void noisy_roots(float *data, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size)
    return;
  if (i == 0)
    printf("%d roots, first of %f\n", size, data[0]);
  data[i] = checked(data[i]);
}
extern "C" __global__ void heap(int *out, int count) {
  int *scratch = static_cast<int *>(malloc(count * sizeof(int)));
  if (!scratch)
    __trap();
  for (int i = 0; i < count; ++i)
    scratch[i] = i * i;
  out[threadIdx.x] = scratch[threadIdx.x % count];
  free(scratch);
}
