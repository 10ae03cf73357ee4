// nvcc -rdc=true: names stay external, one object may use another's; here all are defined.
__device__ float shared_bias = 0.5f;
#ifdef TWIN_EXTERN
extern __device__ float activation(float x);
#else
__device__ __noinline__ float activation(float x) {
  return x > 0 ? x + shared_bias : 0;
}
#endif
extern "C" __global__ void activate(float *data, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size)
    data[i] = activation(data[i]);
}
