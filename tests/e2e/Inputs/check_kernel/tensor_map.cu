// A kernel that reads its input through a tensor map, and one that reads it plainly.
#include <cuda.h>
#include <tenon/kernel.cuh>

constexpr int kRows = 8, kColumns = 16;

extern "C" __global__ void scale_tiles(const float *in, float *out, const __grid_constant__ CUtensorMap map, int rows,
                                       int columns) {
  __shared__ alignas(128) float tile[kRows][kColumns];
  __shared__ unsigned long long barrier;
  const unsigned to = __cvta_generic_to_shared(tile), at = __cvta_generic_to_shared(&barrier);
  const int row = blockIdx.y * kRows, column = blockIdx.x * kColumns;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "n"(sizeof(tile)));
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
                 "%3}], [%4];" ::"r"(to),
                 "l"(&map), "r"(column), "r"(row), "r"(at)
                 : "memory");
  }
  __syncthreads();
  asm volatile("{\n"
               ".reg .pred done;\n"
               "wait: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
               "@!done bra wait;\n"
               "}" ::"r"(at)
               : "memory");
  const int r = row + threadIdx.x / kColumns, c = column + threadIdx.x % kColumns;
  if (r < rows && c < columns)
    out[r * columns + c] = 2 * tile[threadIdx.x / kColumns][threadIdx.x % kColumns];
}

TENON_KERNEL(scale_tiles, TENON_WORKGROUP(128), TENON_READ(const float *, in).aligned(16), TENON_WRITE(float *, out),
             TENON_CONSTANT(CUtensorMap, map).encoded<float>(0, {8, 16}).promoted(128), TENON_CONSTANT(int, rows),
             TENON_CONSTANT(int, columns));

extern "C" __global__ void scale_plainly(const float *in, float *out, const __grid_constant__ CUtensorMap map, int rows,
                                         int columns) {
  const int r = blockIdx.y * kRows + threadIdx.x / kColumns, c = blockIdx.x * kColumns + threadIdx.x % kColumns;
  if (r < rows && c < columns)
    out[r * columns + c] = 2 * in[r * columns + c];
}
TENON_KERNEL(scale_plainly, TENON_WORKGROUP(128), TENON_READ(const float *, in).aligned(16), TENON_WRITE(float *, out),
             TENON_CONSTANT(CUtensorMap, map).encoded<float>(0, {8, 16}).promoted(128), TENON_CONSTANT(int, rows),
             TENON_CONSTANT(int, columns));
