// Pointers on their way through a kernel, for access_hops.test: kernels that keep to `const`, and those named cast*,
// which cast it away. minimum: compute_75
#include <cstdio>
struct View {
  float *data;
  int size;
};
struct Pair {
  const float *from;
  float *to;
};
__device__ __noinline__ void put(float *to, int i, float v) {
  to[i] = v;
}
__device__ __noinline__ void putTwice(float *to, int i, float v) {
  put(to, i, v);
  put(to + 1, i, v);
}
__device__ __noinline__ float get(const float *from, int i) {
  return from[i];
}
__device__ __noinline__ float *shift(float *p, int n) {
  return p + n;
}
__device__ __noinline__ void fill(View v, int i) {
  v.data[i] = 1;
}
__device__ __noinline__ void copy(const Pair &pair, int i) {
  pair.to[i] = pair.from[i];
}
// What is declared const is only read.
extern "C" __global__ void hops(const float *x, float *y, int n) {
  int i = threadIdx.x;
  if (i < n)
    putTwice(y, i, get(x, i));
}
extern "C" __global__ void returned(const float *x, float *y, int n) {
  *shift(y, n) = *shift((float *)x, n);
}
extern "C" __global__ void byValue(const float *x, float *y, int n) {
  fill(View{y, n}, x[threadIdx.x] > 0);
}
extern "C" __global__ void byReference(const float *x, float *y, int n) {
  Pair p{x, y};
  copy(p, n);
}
extern "C" __global__ void prints(const float *x, float *y, int n) {
  printf("%p %f\n", x, x[n]);
  y[n] = 1;
}
extern "C" __global__ void arrays(const float *x, float *y, int n) {
  const float *a[2] = {x, y};
  y[0] = a[n & 1][3];
}
extern "C" __global__ void strided(const float *x, float *y, long n, long stride) {
  for (long i = threadIdx.x; i < n; i += stride) {
    const float *p = x + i * stride;
    float *q = y + (p - x);
    *q = *p;
  }
}
extern "C" __global__ void loop(const float *x, float *y, int n) {
  const float *end = x + n;
  float *o = y;
  for (const float *p = x; p != end; ++p, o += 2) {
    *o = *p;
  }
}
extern "C" __global__ void atomics(const int *x, int *y, int n) {
  atomicAdd(y + x[n], 1);
  atomicMax(&y[n], x[0]);
}
// What is declared const is written.
extern "C" __global__ void castAway(const float *x, float *y, int n) {
  float *p = (float *)x;
  p[n] = y[n];
  y[0] = 1;
}
extern "C" __global__ void castHops(const float *x, float *y, int n) {
  putTwice((float *)x, n, y[n]);
  y[0] = 1;
}
extern "C" __global__ void castReturned(const float *x, float *y, int n) {
  *shift(shift((float *)x, 1), n) = y[0];
  y[0] = 1;
}
extern "C" __global__ void castAtomic(const int *x, int *y, int n) {
  y[0] = atomicAdd((int *)x, n);
}
extern "C" __global__ void castByValue(const float *x, float *y, int n) {
  fill(View{(float *)x, n}, 3);
  y[0] = 1;
}
extern "C" __global__ void castVector(const float *x, float *y, int n) {
  reinterpret_cast<float2 *>((float *)x)[n] = make_float2(y[0], 1);
  y[0] = 1;
}
