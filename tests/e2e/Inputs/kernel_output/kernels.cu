// Kernels that print and assert.
#include <cassert>
#include <cstdio>

extern "C" __global__ void hello(int *data) {
  printf("hello from block %u\n", blockIdx.x);
  data[blockIdx.x] = blockIdx.x;
}

extern "C" __global__ void twice(int *data) {
  printf("%d becomes\n%d", data[blockIdx.x], 2 * data[blockIdx.x]);
  data[blockIdx.x] *= 2;
}

extern "C" __global__ void positive(int *data) {
  assert(data[blockIdx.x] > 0 && "wants positive numbers");
}
