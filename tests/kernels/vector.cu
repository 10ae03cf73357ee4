// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element-wise kernels, integer division, special functions, half precision.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void saxpy(const float *x, const float *y, float *out, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = a * x[i] + y[i];
}

extern "C" __global__ void add4(const float4 *a, const float4 *b, float4 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = make_float4(a[i].x + b[i].x, a[i].y + b[i].y, a[i].z + b[i].z, a[i].w + b[i].w);
}

extern "C" __global__ void divide64(const long long *a, const long long *b, long long *q, long long *r,
                                    unsigned long long *uq, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  q[i] = a[i] / b[i];
  r[i] = a[i] % b[i];
  uq[i] = (unsigned long long)a[i] / (unsigned long long)b[i];
}

// a and q: two words to a number, the lower one first.
extern "C" __global__ void divide128(const unsigned long long *a, const long long *b, unsigned long long *q, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  __int128 quotient = (__int128)((unsigned __int128)a[2 * i + 1] << 64 | a[2 * i]) / b[i];
  q[2 * i] = (unsigned long long)quotient;
  q[2 * i + 1] = (unsigned long long)(quotient >> 64);
}

extern "C" __global__ void specials(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = x[i];
  float *o = out + 12 * i;
  o[0] = expf(v);
  o[1] = logf(fabsf(v) + 0.5f);
  o[2] = sinf(v);
  o[3] = cosf(v);
  o[4] = tanhf(v);
  o[5] = sqrtf(fabsf(v));
  o[6] = rsqrtf(fabsf(v) + 0.1f);
  o[7] = powf(fabsf(v) + 0.1f, 1.7f);
  o[8] = erff(v);
  o[9] = atan2f(v, 2.0f);
  o[10] = fmodf(v, 0.3f);
  o[11] = cbrtf(v);
}

extern "C" __global__ void specials64(const double *x, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  double v = x[i];
  double *o = out + 6 * i;
  o[0] = exp(v);
  o[1] = log(fabs(v) + 0.5);
  o[2] = sin(v);
  o[3] = 1.0 / v;
  o[4] = rsqrt(fabs(v) + 0.1);
  o[5] = pow(fabs(v) + 0.1, 1.7);
}

extern "C" __global__ void fast(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = x[i];
  float *o = out + 6 * i;
  o[0] = __expf(v);
  o[1] = __logf(fabsf(v) + 0.5f);
  o[2] = __sinf(v);
  o[3] = __cosf(v);
  o[4] = __fdividef(v, 3.0f);
  o[5] = __saturatef(v);
}

extern "C" __global__ void rounding(const float *a, const float *b, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float *o = out + 8 * i;
  o[0] = __fadd_rd(a[i], b[i]);
  o[1] = __fadd_ru(a[i], b[i]);
  o[2] = __fmul_rz(a[i], b[i]);
  o[3] = __fdiv_ru(a[i], b[i]);
  o[4] = __fsqrt_rd(fabsf(a[i]));
  o[5] = __fmaf_ru(a[i], b[i], 1.0f);
  o[6] = __int2float_rd(__float_as_int(a[i]));
  o[7] = __frcp_rn(b[i]);
}

extern "C" __global__ void halves(const __half2 *a, const __half2 *b, __half2 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = __hfma2(a[i], b[i], __hmul2(a[i], __float2half2_rn(0.5f)));
}

extern "C" __global__ void bfloats(const float *a, const float *b, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = __bfloat162float(__float2bfloat16_rn(a[i])) * __bfloat162float(__float2bfloat16_rn(b[i]));
}

extern "C" __global__ void bits(const unsigned *a, unsigned *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned v = a[i], *o = out + 8 * i;
  o[0] = __popc(v);
  o[1] = __clz(v);
  o[2] = __brev(v);
  o[3] = __ffs(v);
  o[4] = __byte_perm(v, ~v, 0x5276);
  o[5] = __funnelshift_l(v, v * 7, v & 63);
  o[6] = __umulhi(v, 0x9e3779b9u);
  o[7] = __usad(v, 12345u, 7u);
}
