// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products on tensor cores through wmma, and copies from global to shared memory behind the arithmetic: a ring
// of two buffers filled by cp.async, once with groups, once with an mbarrier.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// C[M][N] = A[M][K] B[K][N], one warp per tile of 16x16; A row-major, B column-major.
extern "C" __global__ void wmma_f16(const __half *a, const __half *b, float *c, int n, int k) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  int row = blockIdx.y * 16, column = blockIdx.x * 16;
  for (int t = 0; t < k; t += 16) {
    wmma::load_matrix_sync(fa, a + row * k + t, k);
    wmma::load_matrix_sync(fb, b + column * k + t, k);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  for (int i = 0; i < fc.num_elements; i++)
    fc.x[i] *= 2;
  wmma::store_matrix_sync(c + row * n + column, fc, n, wmma::mem_row_major);
}

// The other shapes, through shared memory, with f16 accumulators: D = A B + C.
template <int M, int N> __device__ void halfShape(const __half *a, const __half *b, const __half *c, __half *d) {
  __shared__ __align__(32) __half sa[M * 16], sb[16 * N];
  for (int i = threadIdx.x; i < M * 16; i += 32)
    sa[i] = a[i];
  for (int i = threadIdx.x; i < 16 * N; i += 32)
    sb[i] = b[i];
  __syncthreads();
  wmma::fragment<wmma::matrix_a, M, N, 16, __half, wmma::col_major> fa;
  wmma::fragment<wmma::matrix_b, M, N, 16, __half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, M, N, 16, __half> fc;
  wmma::load_matrix_sync(fa, sa, M);
  wmma::load_matrix_sync(fb, sb, N);
  wmma::load_matrix_sync(fc, c, M, wmma::mem_col_major);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(d, fc, N, wmma::mem_row_major);
}
extern "C" __global__ void wmma_half_32x8(const __half *a, const __half *b, const __half *c, __half *d) {
  halfShape<32, 8>(a, b, c, d);
}
extern "C" __global__ void wmma_half_8x32(const __half *a, const __half *b, const __half *c, __half *d) {
  halfShape<8, 32>(a, b, c, d);
}

extern "C" __global__ void wmma_s8(const signed char *a, const signed char *b, int *c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
  wmma::fill_fragment(fc, 3);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

extern "C" __global__ void wmma_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c) {
#if __CUDA_ARCH__ >= 800
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
#endif
}

extern "C" __global__ void wmma_tf32(const float *a, const float *b, float *c) {
#if __CUDA_ARCH__ >= 800
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  wmma::load_matrix_sync(fa, a, 8);
  wmma::load_matrix_sync(fb, b, 16);
  for (int i = 0; i < fa.num_elements; i++)
    fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
  for (int i = 0; i < fb.num_elements; i++)
    fb.x[i] = wmma::__float_to_tf32(fb.x[i]);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
#endif
}

extern "C" __global__ void wmma_f64(const double *a, const double *b, double *c) {
#if __CUDA_ARCH__ >= 800
  wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> fc;
  wmma::fill_fragment(fc, 0.5);
  wmma::load_matrix_sync(fa, a, 4);
  wmma::load_matrix_sync(fb, b, 8);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
#endif
}

__device__ unsigned sharedOffset(const void *p) {
  return (unsigned)__cvta_generic_to_shared(p);
}
__device__ void copyAsync16(void *to, const void *from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sharedOffset(to)), "l"(from) : "memory");
#endif
}

// C[N][N] = A B in f32, tiles of 16x16 in two buffers: the next tile is copied while this one is multiplied.
extern "C" __global__ void matmul_double_buffered(const float *a, const float *b, float *c, int n) {
#if __CUDA_ARCH__ >= 800
  __shared__ __align__(16) float sa[2][16][16], sb[2][16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16, column = blockIdx.x * 16;
  int thread = ty * 16 + tx, line = thread / 4 % 16, chunk = thread % 4 * 4;
  auto fetch = [&](int buffer, int t) {
    if (thread < 64)
      copyAsync16(&sa[buffer][line][chunk], a + (row + line) * n + t + chunk);
    else if (thread < 128)
      copyAsync16(&sb[buffer][line][chunk], b + (t + line) * n + column + chunk);
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  float sum = 0;
  fetch(0, 0);
  for (int t = 0, buffer = 0; t < n; t += 16, buffer ^= 1) {
    if (t + 16 < n) {
      fetch(buffer ^ 1, t + 16);
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    for (int k = 0; k < 16; k++)
      sum += sa[buffer][ty][k] * sb[buffer][k][tx];
    __syncthreads();
  }
  c[(row + ty) * n + column + tx] = sum;
#endif
}

// Sums of tiles of 128 floats: the first warp copies, all wait on the parity of an mbarrier, two phases and more.
extern "C" __global__ void mbarrier_pipeline(const float *in, float *out, int tiles) {
#if __CUDA_ARCH__ >= 900
  __shared__ __align__(16) float tile[128];
  __shared__ __align__(8) unsigned long long barrier;
  unsigned object = sharedOffset(&barrier);
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(object), "r"(32) : "memory");
  __syncthreads();
  float sum = 0;
  for (int t = 0; t < tiles; t++) {
    if (threadIdx.x < 32) {
      copyAsync16(&tile[threadIdx.x * 4], in + t * 128 + threadIdx.x * 4);
      asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(object) : "memory");
    }
    unsigned done = 0;
    while (!done)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(object), "r"(t & 1)
                   : "memory");
    sum += tile[threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
#endif
}

// Every thread arrives, keeps the state, and waits for its phase; thread 0 also announces bytes and makes them come.
extern "C" __global__ void mbarrier_state(unsigned *out) {
#if __CUDA_ARCH__ >= 900
  __shared__ __align__(8) unsigned long long barrier;
  __shared__ unsigned values[64];
  unsigned object = sharedOffset(&barrier), done = 0, pending = 0;
  unsigned long long state;
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(object), "r"(blockDim.x) : "memory");
  __syncthreads();
  values[threadIdx.x] = threadIdx.x * 3;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;"
                 : "=l"(state)
                 : "r"(object), "r"(64)
                 : "memory");
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(object), "r"(64) : "memory");
  } else {
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(object) : "memory");
  }
  asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(object), "l"(state)
                 : "memory");
  out[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x] + (pending >= 1 && pending <= blockDim.x ? 1000 : 0);
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(object) : "memory");
#endif
}
