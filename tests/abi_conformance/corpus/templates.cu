// Templates and namespaces: exports name mangled symbols.
#include <cstdint>
namespace blocks {
template <typename T, int kWidth> __global__ void scale(T *data, T factor, int size) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * kWidth;
#pragma unroll
  for (int k = 0; k < kWidth; ++k)
    if (i + k < size)
      data[i + k] *= factor;
}
template __global__ void scale<float, 4>(float *, float, int);
template __global__ void scale<double, 2>(double *, double, int);
#ifndef TWIN_MISSING
template __global__ void scale<int64_t, 1>(int64_t *, int64_t, int);
#endif

template <typename F> __global__ void map(float *data, int size, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size)
    data[i] = f(data[i]);
}
struct Affine {
  float a, b;
  __device__ float operator()(float x) const { return a * x + b; }
};
template __global__ void map<Affine>(float *, int, Affine);
} // namespace blocks
