// CUB's block primitives, as people use them inside kernels of their own.
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
extern "C" __global__ void __launch_bounds__(128) block_sum(const float *in, float *out, int size) {
  using Reduce = cub::BlockReduce<float, 128>;
  __shared__ typename Reduce::TempStorage storage;
  int i = blockIdx.x * 128 + threadIdx.x;
  float sum = Reduce(storage).Sum(i < size ? in[i] : 0.f);
  if (threadIdx.x == 0)
    out[blockIdx.x] = sum;
}
extern "C" __global__ void __launch_bounds__(128) block_sort(unsigned *keys, int *ranks) {
  using Load = cub::BlockLoad<unsigned, 128, 4, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<unsigned, 128, 4, cub::BLOCK_STORE_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<unsigned, 128, 4, int>;
  using Scan = cub::BlockScan<int, 128>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Sort::TempStorage sort;
    typename Scan::TempStorage scan;
  } storage;
  unsigned mine[4];
  int rank[4] = {int(threadIdx.x) * 4, int(threadIdx.x) * 4 + 1, int(threadIdx.x) * 4 + 2, int(threadIdx.x) * 4 + 3};
  Load(storage.load).Load(keys + blockIdx.x * 512, mine);
  __syncthreads();
  Sort(storage.sort).Sort(mine, rank);
  __syncthreads();
  int running;
  Scan(storage.scan).ExclusiveSum(rank[0] & 1, running);
  __syncthreads();
  Store(storage.store).Store(keys + blockIdx.x * 512, mine);
  ranks[blockIdx.x * 128 + threadIdx.x] = running;
}
