// Tensor cores by wmma and by inline assembly, cp.async, half and bfloat16, barriers in shared memory. minimum:
// compute_80
#include <cuda/barrier>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void wmmaHalf(const half *a, const half *b, float *c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
extern "C" __global__ void mma(const unsigned *a, float *c, void *global) {
  __shared__ __align__(128) unsigned char tile[4096];
  unsigned r[4];
  unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(tile + threadIdx.x * 16));
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(address), "l"(global));
  asm volatile("cp.async.commit_group;\n cp.async.wait_group 0;");
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(a[0]), "r"(a[1]));
}
extern "C" __global__ void narrow(__half2 *h, __nv_bfloat16 *b, __nv_bfloat162 *b2) {
  h[0] = __hfma2(h[1], h[2], __float2half2_rn(1.5f));
  h[3] = h2exp(h[4]);
  b[0] = __float2bfloat16(3.5f) * b[1];
  b2[0] = __hadd2(b2[1], b2[2]);
  atomicAdd(h, h[7]);
  __pipeline_memcpy_async(h, h, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
}
extern "C" __global__ void barriers(float *x) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ float tile[256];
  if (threadIdx.x == 0)
    init(&barrier, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(tile + threadIdx.x, x + threadIdx.x, cuda::aligned_size_t<4>(4), barrier);
  barrier.arrive_and_wait();
  x[threadIdx.x] = tile[255 - threadIdx.x];
}
