// Pointers that travel: through functions that are not inlined, through structs, through a choice of two.
struct Window {
  const float *begin;
  int size;
};
static __device__ __noinline__ float at(const Window &window, int i) {
  return window.begin[i < 0 ? 0 : i < window.size ? i : window.size - 1];
}
#ifdef TWIN_HOPS
static __device__ __noinline__ void last_hop(float *p) {
  *p = 0;
}
static __device__ __noinline__ void first_hop(float *p, int i) {
  last_hop(p + i);
}
#endif
extern "C" __global__ void filtered(const float *in, const float *weights, float *out, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size)
    return;
  Window window{in, size};
  float sum = 0;
  for (int k = -2; k <= 2; ++k)
    sum += weights[k + 2] * at(window, i + k);
  out[i] = sum;
#ifdef TWIN_HOPS
  first_hop(const_cast<float *>(in), i);
#endif
}
extern "C" __global__ void histogram(const unsigned char *in, unsigned *bins, int size) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[in[i]], 1u);
}
extern "C" __global__ void blend(const float *a, const float *b, float *out, int size) {
#ifndef TWIN_EMPTY
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float *source = i % 3 ? a : b;
  if (i < size)
    out[i] = source[i];
#endif
}
