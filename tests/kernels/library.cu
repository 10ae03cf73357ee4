// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels out of NVIDIA's header libraries, which write PTX in ways of their own: CUB's block algorithms, the
// algorithms of cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

namespace cg = cooperative_groups;

extern "C" __global__ void __launch_bounds__(128) blockReduce(const int *in, int *sums, float *largest) {
  using Sums = cub::BlockReduce<int, 128>;
  using Largest = cub::BlockReduce<float, 128, cub::BLOCK_REDUCE_RAKING>;
  __shared__ typename Sums::TempStorage forSums;
  __shared__ typename Largest::TempStorage forLargest;
  int i = blockIdx.x * 128 + threadIdx.x;
  int sum = Sums(forSums).Sum(in[i]);
  float most = Largest(forLargest).Reduce(in[i] * 0.5f, [](float a, float b) { return a > b ? a : b; });
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
    largest[blockIdx.x] = most;
  }
}

extern "C" __global__ void __launch_bounds__(128) blockScan(const int *in, int *inclusive, int *exclusive) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage storage;
  int values[4], before[4];
  for (int k = 0; k < 4; k++)
    values[k] = in[threadIdx.x * 4 + k];
  Scan(storage).ExclusiveSum(values, before);
  __syncthreads();
  Scan(storage).InclusiveSum(values, values);
  for (int k = 0; k < 4; k++) {
    exclusive[threadIdx.x * 4 + k] = before[k];
    inclusive[threadIdx.x * 4 + k] = values[k];
  }
}

extern "C" __global__ void __launch_bounds__(128) blockSort(unsigned *keys, int *positions) {
  using Sort = cub::BlockRadixSort<unsigned, 128, 4, int>;
  __shared__ typename Sort::TempStorage storage;
  unsigned mine[4];
  int from[4];
  for (int k = 0; k < 4; k++) {
    mine[k] = keys[threadIdx.x * 4 + k];
    from[k] = threadIdx.x * 4 + k;
  }
  Sort(storage).Sort(mine, from);
  for (int k = 0; k < 4; k++) {
    keys[threadIdx.x * 4 + k] = mine[k];
    positions[threadIdx.x * 4 + k] = from[k];
  }
}

extern "C" __global__ void __launch_bounds__(128) blockHistogram(const unsigned char *in, unsigned *out) {
  using Histogram = cub::BlockHistogram<unsigned char, 128, 4, 64>;
  __shared__ typename Histogram::TempStorage storage;
  __shared__ unsigned bins[64];
  unsigned char mine[4];
  for (int k = 0; k < 4; k++)
    mine[k] = in[threadIdx.x * 4 + k] % 64;
  Histogram(storage).Histogram(mine, bins);
  __syncthreads();
  if (threadIdx.x < 64)
    out[threadIdx.x] = bins[threadIdx.x];
}

// Tiles of 16 lanes: sum, largest, scans; then the threads with odd values among themselves.
extern "C" __global__ void groupAlgorithms(const int *in, int *out) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int t = threadIdx.x, v = in[t], *o = out + 5 * t;
  o[0] = cg::reduce(tile, v, cg::plus<int>());
  o[1] = cg::reduce(tile, v, cg::greater<int>());
  o[2] = cg::inclusive_scan(tile, v, cg::plus<int>());
  o[3] = cg::exclusive_scan(tile, v, cg::plus<int>());
  o[4] = 0;
  if (v & 1) {
    cg::coalesced_group odd = cg::coalesced_threads();
    o[4] = cg::reduce(odd, v, cg::plus<int>());
  }
}
