// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor-core instructions: one warp multiplies small matrices with ldmatrix and mma.sync.
#include <cuda_fp16.h>

__device__ unsigned sharedAddress(const void *p) {
  return (unsigned)__cvta_generic_to_shared(p);
}

// C[16][8] = A[16][16] B[16][8], f16 in, f32 out; sm_75 has the shape of half the depth.
extern "C" __global__ void mma_f16(const __half *a, const __half *b, float *c) {
  __shared__ __align__(16) __half sa[16][16], sb[16][8];
  int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32)
    sa[i / 16][i % 16] = a[i];
  for (int i = lane; i < 128; i += 32)
    sb[i / 8][i % 8] = b[i];
  __syncthreads();
  unsigned ra[4], rb[2];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
               : "r"(sharedAddress(&sa[lane % 16][lane / 16 * 8])));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
               : "=r"(rb[0]), "=r"(rb[1])
               : "r"(sharedAddress(&sb[lane % 16][0])));
  float d[4] = {0, 0, 0, 0};
#if __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
#else
  for (int h = 0; h < 2; h++)
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(ra[2 * h]), "r"(ra[2 * h + 1]), "r"(rb[h]));
#endif
  for (int i = 0; i < 4; i++)
    c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
}

// C[16][8] = A[16][8] B[8][8] in tf32, fragments loaded by hand; and C[16][8] = A[16][32] B[32][8] in int8.
extern "C" __global__ void mma_tf32(const float *a, const float *b, float *c) {
#if __CUDA_ARCH__ >= 800
  int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  unsigned ra[4], rb[2];
  for (int i = 0; i < 4; i++)
    ra[i] = __float_as_uint(a[(g + i % 2 * 8) * 8 + t + i / 2 * 4]);
  for (int i = 0; i < 2; i++)
    rb[i] = __float_as_uint(b[(t + i * 4) * 8 + g]);
  float d[4] = {1, 1, 1, 1};
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  for (int i = 0; i < 4; i++)
    c[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = d[i];
#endif
}

extern "C" __global__ void mma_s8(const signed char *a, const signed char *b, int *c) {
#if __CUDA_ARCH__ >= 800
  int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  unsigned ra[4], rb[2];
  for (int i = 0; i < 4; i++)
    ra[i] = *(const unsigned *)&a[(g + i % 2 * 8) * 32 + t * 4 + i / 2 * 16];
  for (int i = 0; i < 2; i++) {
    rb[i] = 0;
    for (int k = 0; k < 4; k++)
      rb[i] |= (unsigned)(unsigned char)b[(t * 4 + i * 16 + k) * 8 + g] << (8 * k);
  }
  int d[4] = {0, 0, 0, 0};
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  for (int i = 0; i < 4; i++)
    c[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = d[i];
#endif
}
