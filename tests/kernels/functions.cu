// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every function of math.h that device code has, in single and double precision; half and bfloat arithmetic.
#include "functions.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void functions32(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = in[i], a = fabsf(v) + 0.01f, u = v * 0.109f;
#define TENON_STORE(CALL, HOST, ULPS) *out = CALL, out += n;
  out += i;
  TENON_FUNCTIONS_32(TENON_STORE)
}

extern "C" __global__ void functions64(const double *in, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  double v = in[i], a = fabs(v) + 0.01, u = v * 0.109;
  out += i;
  TENON_FUNCTIONS_64(TENON_STORE)
}

// Sixteen results of a pair of numbers, as bits.
extern "C" __global__ void halfMath(const __half *a, const __half *b, __half *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  __half x = a[i], y = b[i], *o = out + 12 * i;
  o[0] = __hadd(x, y);
  o[1] = __hsub(x, y);
  o[2] = __hmul(x, y);
  o[3] = __hfma(x, y, x);
  o[4] = __hadd_sat(x, y);
  o[5] = __hmax(x, y);
  o[6] = __hmin(x, y);
  o[7] = __hneg(x);
  o[8] = __habs(y);
  o[9] = __hlt(x, y) ? __float2half(1.0f) : __float2half(0.0f);
  o[10] = __float2half_rz(__half2float(x) * 1.001f);
  o[11] = __int2half_rn(__half2int_rd(y));
}

extern "C" __global__ void bfloatMath(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  __nv_bfloat16 x = a[i], y = b[i], *o = out + 6 * i;
  o[0] = __hadd(x, y);
  o[1] = __hmul(x, y);
#if __CUDA_ARCH__ >= 800
  o[2] = __hfma(x, y, x);
#else
  o[2] = __float2bfloat16_rn(fmaf(__bfloat162float(x), __bfloat162float(y), __bfloat162float(x)));
#endif
  o[3] = __hmax(x, y);
  o[4] = __hneg(x);
  o[5] = __float2bfloat16_rn(__bfloat162float(x) * 1.01f);
}
