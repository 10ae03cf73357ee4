// Tensor cores through nvcuda::wmma: half in, float out; from sm_80 on bfloat16 as well.
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;
template <typename T> __device__ void tile_product(const T *a, const T *b, float *c, int k) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(fa, a + i, k);
    wmma::load_matrix_sync(fb, b + i, k);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
extern "C" __global__ void half_tile(const half *a, const half *b, float *c, int k) {
  tile_product(a, b, c, k);
}
extern "C" __global__ void
#ifdef TWIN_BLOCK
__launch_bounds__(16)
#endif
    bf16_tile(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int k) {
#if __CUDA_ARCH__ >= 800
  tile_product(a, b, c, k);
#else
  for (int i = threadIdx.x; i < 256; i += 32) {
    float sum = 0;
    for (int j = 0; j < k; ++j)
      sum += __bfloat162float(a[i / 16 * k + j]) * __bfloat162float(b[i % 16 * k + j]);
    c[i] = sum;
  }
#endif
}
