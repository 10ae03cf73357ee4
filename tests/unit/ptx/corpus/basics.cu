// Templates, dynamic and static shared memory, constants, module variables with initialisers, atomics, math functions,
// divergence, switch tables, warp functions. minimum: compute_75
#include <cstdint>

__constant__ float coefficients[4] = {1.0f, -2.5f, 3.25f, 1e-30f};
__constant__ double scales[2][2] = {{1.0, 2.0}, {3.0}};
__device__ int counter = 3;
__device__ const char message[] = "text with \"quotes\" and a \\ backslash";
__device__ int *counterAddress = &counter;
struct Pair {
  char tag;
  double value;
};
__device__ Pair pairs[3] = {{1, 2.0}, {2, 3.0}};
__managed__ int managedCounter = 7;

template <typename T> __device__ T combine(T a, T b) {
  return a * b + a;
}

template <typename T, int kWidth> __global__ void __launch_bounds__(256, 2) transform(const T *in, T *out, int n) {
  extern __shared__ __align__(16) unsigned char raw[];
  T *tile = reinterpret_cast<T *>(raw);
  __shared__ T head[kWidth];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < kWidth)
    head[threadIdx.x] = in[threadIdx.x];
  tile[threadIdx.x] = i < n ? in[i] : T(0);
  __syncthreads();
  if (i < n)
    out[i] = combine(tile[blockDim.x - 1 - threadIdx.x], head[i % kWidth]);
}
template __global__ void transform<float, 32>(const float *, float *, int);
template __global__ void transform<double, 7>(const double *, double *, int);
template __global__ void transform<int64_t, 64>(const int64_t *, int64_t *, int);
template __global__ void transform<uint8_t, 3>(const uint8_t *, uint8_t *, int);

extern "C" __global__ void structByValue(Pair p, const float4 *__restrict__ in, float4 *out, short3 s) {
  float4 v = __ldg(in + threadIdx.x);
  v.x += p.value + s.z;
  v.w = coefficients[threadIdx.x & 3] + scales[threadIdx.x & 1][1] + pairs[threadIdx.x % 3].value;
  out[threadIdx.x] = v;
  atomicAdd(&counter, 1);
  atomicAdd(counterAddress, message[threadIdx.x]);
  managedCounter = 1;
}

extern "C" __global__ void math(float *x, double *y, unsigned *u, long long *l) {
  int i = threadIdx.x;
  x[i] = expf(x[i]) + sinf(x[i]) / powf(x[i], 3.7f) + rsqrtf(x[i]) + __expf(x[i]) + fminf(x[i], 2.f) + tanhf(x[i]);
  y[i] = exp(y[i]) + sqrt(y[i]) + fma(y[i], 2.0, 1.0) + y[i] / 3.0;
  u[i] = __popc(u[i]) + __clz(u[i]) + __brev(u[i]) + __byte_perm(u[i], 3, 0x1234) + u[i] / 7 + __umulhi(u[i], 77);
  l[i] = l[i] / 13 + l[i] % u[i] + __float2ll_rn(x[i]);
}

extern "C" __global__ void warps(int *x, float *f) {
  int v = x[threadIdx.x];
  for (int d = 16; d > 0; d /= 2)
    v += __shfl_xor_sync(0xffffffffu, v, d);
  int predicate;
  v += __match_any_sync(0xffffffffu, v) + __match_all_sync(0xffffffffu, v, &predicate);
  v += __ballot_sync(0xffffffffu, v > 3) + __any_sync(0xffffffffu, predicate);
  f[threadIdx.x] = __shfl_down_sync(0xffffffffu, f[threadIdx.x], 1);
  __syncwarp();
  v += __syncthreads_count(v) + __syncthreads_or(v);
  switch (v) {
  case 0:
    v = 5;
    break;
  case 1:
    v = f[0];
    break;
  case 2:
    v = x[2] * 3;
    break;
  case 3:
    atomicMax(x, 3);
    break;
  case 4:
    v += clock64();
    break;
  case 5:
    __threadfence();
    v = atomicCAS(x, 1, 2);
    break;
  case 6:
    v = 77;
    __nanosleep(100);
    break;
  default:
    asm volatile("trap;");
  }
  x[threadIdx.x] = v;
}
