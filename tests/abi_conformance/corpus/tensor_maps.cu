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

// The shape of CUTLASS's collectives: two inputs are loaded by their maps, the output is stored by its own.
__device__ inline void add_tiles(const CUtensorMap &a, const CUtensorMap &b, const CUtensorMap &d, int from) {
  __shared__ alignas(128) float tiles[2][64];
  __shared__ unsigned long long barrier;
  unsigned first = __cvta_generic_to_shared(tiles[0]), second = __cvta_generic_to_shared(tiles[1]),
           at = __cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&d) : "memory");
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(at));
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];" ::
            "r"(first),
        "l"(&a), "r"(from), "r"(at)
        : "memory");
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];" ::
            "r"(second),
        "l"(&b), "r"(from), "r"(at)
        : "memory");
  }
  __syncthreads();
  asm volatile("{\n"
               ".reg .pred done;\n"
               "wait: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
               "@!done bra wait;\n"
               "}" ::"r"(at)
               : "memory");
  tiles[0][threadIdx.x] += tiles[1][threadIdx.x];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%1}], [%2];" ::
#ifdef TWIN_STORES_INPUT
                     "l"(&b),
#else
                     "l"(&d),
#endif
                 "r"(from), "r"(first)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
}
extern "C" __global__ void add_by_maps(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                                       const __grid_constant__ CUtensorMap d, int from) {
  add_tiles(a, b, d, from);
}
extern "C" __global__ void add_by_maps_output_first(int from, const __grid_constant__ CUtensorMap d,
                                                    const __grid_constant__ CUtensorMap a,
                                                    const __grid_constant__ CUtensorMap b) {
  add_tiles(a, b, d, from);
}
struct Params {
  int from;
  CUtensorMap a, b, d;
};
extern "C" __global__ void add_by_maps_of_params(const __grid_constant__ Params params) {
  add_tiles(params.a, params.b, params.d, params.from);
}
