// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions: recursion, pointers, constant tables, local arrays, printf, assert, device heap.
#include <assert.h>
#include <stdio.h>

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
extern "C" __global__ void recursion(int *out) {
  out[threadIdx.x] = fibonacci(threadIdx.x % 12);
}

typedef int (*Operation)(int, int);
__device__ __noinline__ int plus(int a, int b) {
  return a + b;
}
__device__ __noinline__ int times(int a, int b) {
  return a * b;
}
__device__ __noinline__ int minus(int a, int b) {
  return a - b;
}
__device__ Operation operations[] = {plus, times, minus};
extern "C" __global__ void pointers(const int *a, const int *b, int *out) {
  int t = threadIdx.x;
  out[t] = operations[t % 3](a[t], b[t]);
}

__constant__ int table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
struct Pack {
  int values[5];
  short small;
  double big;
};
__device__ __noinline__ double weigh(Pack p, int i) {
  return p.values[i] * table[i] + p.small * p.big;
}
extern "C" __global__ void aggregates(Pack p, double *out) {
  out[threadIdx.x] = weigh(p, threadIdx.x % 5);
}

extern "C" __global__ void locals(const int *in, int *out) {
  unsigned char bytes[64];
  int t = threadIdx.x;
  for (int i = 0; i < 64; i++)
    bytes[i] = in[(t + i) % 32];
  int sum = 0;
  for (int i = 0; i < 64; i++)
    sum += bytes[(in[i % 32] * 7 + i) & 63];
  out[t] = sum;
}

extern "C" __global__ void chooses(const int *in, int *out) {
  int t = threadIdx.x, v = in[t];
  switch (v) {
  case 0:
    v = 11;
    break;
  case 1:
    v = t * 3;
    break;
  case 2:
    v = table[t & 15];
    break;
  case 3:
    v = -t;
    break;
  case 4:
    v = t ^ 0x55;
    break;
  case 5:
    v = t << 2;
    break;
  case 6:
    v = 99 - t;
    break;
  default:
    v = -1;
  }
  out[t] = v;
}

extern "C" __global__ void collatz(int *out) {
  unsigned v = threadIdx.x + 1;
  int c = 0;
  while (v != 1) {
    v = v & 1 ? 3 * v + 1 : v / 2;
    if (++c > 1000)
      break;
  }
  out[threadIdx.x] = c;
}

extern "C" __global__ void prints(int n) {
  if (threadIdx.x < n)
    printf("thread %d of %s: %.3f %llx %c%%\n", threadIdx.x, "block", 1.5 * threadIdx.x, 0x123456789abcull, 'z');
}

extern "C" __global__ void asserts(int limit) {
  assert((int)threadIdx.x < limit);
}

extern "C" __global__ void heap(int *out) {
  int *mine = (int *)malloc(16 * sizeof(int));
  if (!mine) {
    out[threadIdx.x] = -1;
    return;
  }
  for (int i = 0; i < 16; i++)
    mine[i] = threadIdx.x * i;
  int sum = 0;
  for (int i = 0; i < 16; i++)
    sum += mine[i];
  free(mine);
  out[threadIdx.x] = sum;
}
