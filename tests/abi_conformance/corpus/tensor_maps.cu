// Tensor maps by value: the tensor memory accelerator, from sm_90 on.
#include <cuda.h>
#ifdef TWIN_ORDER
extern "C" __global__ void load_tile(const __grid_constant__ CUtensorMap map, float *out) {
#elif defined(TWIN_POINTER)
extern "C" __global__ void load_tile(float *out, const CUtensorMap &map) {
#else
extern "C" __global__ void load_tile(float *out, const __grid_constant__ CUtensorMap map) {
#endif
  __shared__ alignas(128) float tile[64];
  __shared__ unsigned long long barrier;
  unsigned to = __cvta_generic_to_shared(tile), at = __cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(at));
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];" ::
            "r"(to),
        "l"(&map), "r"(0), "r"(at)
        : "memory");
  }
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}

// The same from any place, with a scalar behind the map. The binding is there for its map alone.
extern "C" __global__ void copy_tile(const float *in, float *out, const __grid_constant__ CUtensorMap map, int from) {
  __shared__ alignas(128) float tile[64];
  __shared__ unsigned long long barrier;
  unsigned to = __cvta_generic_to_shared(tile), at = __cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(at));
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];" ::
            "r"(to),
        "l"(&map), "r"(from), "r"(at)
        : "memory");
  }
  __syncthreads();
  asm volatile("{\n"
               ".reg .pred done;\n"
               "wait: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
               "@!done bra wait;\n"
               "}" ::"r"(at)
               : "memory");
  out[threadIdx.x] = tile[threadIdx.x];
}
