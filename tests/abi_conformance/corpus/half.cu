// half and bfloat16 as buffers, as vectors and as scalars passed by value.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void half_axpy(const half2 *x, half2 *y, half a, int pairs) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pairs)
    y[i] = __hfma2(__half2half2(a), x[i], y[i]);
}
extern "C" __global__ void bf16_to_float(const __nv_bfloat16 *in, float *out, __nv_bfloat16 scale,
#ifdef TWIN_FLOAT
                                         float shift,
#else
                                         half shift,
#endif
                                         int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size)
    out[i] = __bfloat162float(in[i]) * __bfloat162float(scale) + float(shift);
}
