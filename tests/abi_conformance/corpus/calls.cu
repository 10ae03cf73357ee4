// Functions that are not inlined, pointers to them, virtual calls and recursion.
struct Shape {
  __device__ virtual float area(float x) const = 0;
};
struct Square : Shape {
  __device__ float area(float x) const override { return x * x; }
};
struct Circle : Shape {
  __device__ float area(float x) const override { return 3.14159265f * x * x; }
};
static __device__ __noinline__ float twice(float x) {
  return 2 * x;
}
static __device__ __noinline__ float inverse(float x) {
  return 1 / x;
}
typedef float (*Function)(float);
__device__ Function functions[] = {twice, inverse};
extern "C" __global__ void apply(float *data, int which, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size)
    data[i] = functions[which & 1](data[i]);
}
extern "C" __global__ void areas(float *data, int size) {
  Square square;
  Circle circle;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const Shape *shape = i % 2 ? static_cast<const Shape *>(&square) : &circle;
  if (i < size)
    data[i] = shape->area(data[i]);
}
static __device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
extern "C" __global__ void recursion(unsigned *out) {
  out[threadIdx.x] = ackermann(2, threadIdx.x % 4);
}
