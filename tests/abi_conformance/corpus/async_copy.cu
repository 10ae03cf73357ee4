// cp.async through the pipeline primitives, two stages deep.
#include <cuda_pipeline.h>
extern "C" __global__ void __launch_bounds__(128) staged_sum(const float4 *in, float *out, int tiles) {
  __shared__ float4 stage[2][128];
  float sum = 0;
  const float4 *mine = in + blockIdx.x * 128 * tiles + threadIdx.x;
  __pipeline_memcpy_async(&stage[0][threadIdx.x], mine, sizeof(float4));
  __pipeline_commit();
  for (int t = 0; t < tiles; ++t) {
    if (t + 1 < tiles)
      __pipeline_memcpy_async(&stage[(t + 1) & 1][threadIdx.x], mine + 128 * (t + 1), sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    float4 v = stage[t & 1][threadIdx.x ^ 1];
    sum += v.x + v.y + v.z + v.w;
    __syncthreads();
  }
  out[blockIdx.x * 128 + threadIdx.x] = sum;
}
