// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels on CUB's blocks and warps. cub_test.cpp has the references.
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

template <cub::BlockReduceAlgorithm Algorithm> __device__ void reduceTile(int n, const float *in, float *out) {
  using Reduce = cub::BlockReduce<float, 128, Algorithm>;
  __shared__ typename Reduce::TempStorage storage;
  float values[4];
  cub::LoadDirectStriped<128>(threadIdx.x, in + blockIdx.x * 512, values, min(n - int(blockIdx.x) * 512, 512), 0.f);
  const float sum = Reduce(storage).Sum(values);
  if (threadIdx.x == 0)
    out[blockIdx.x] = sum;
}
extern "C" __global__ void __launch_bounds__(128) cub_reduce_raking(int n, const float *in, float *out) {
  reduceTile<cub::BLOCK_REDUCE_RAKING>(n, in, out);
}
extern "C" __global__ void __launch_bounds__(128) cub_reduce_warps(int n, const float *in, float *out) {
  reduceTile<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(n, in, out);
}

template <typename Key, typename Value, cub::BlockLoadAlgorithm Load>
__device__ void sortTile(const Key *keys, const Value *values, Key *keysOut, Value *valuesOut, int bits) {
  using Sort = cub::BlockRadixSort<Key, 128, 4, Value>;
  using LoadKeys = cub::BlockLoad<Key, 128, 4, Load>;
  using LoadValues = cub::BlockLoad<Value, 128, 4, Load>;
  __shared__ union {
    typename Sort::TempStorage sort;
    typename LoadKeys::TempStorage keys;
    typename LoadValues::TempStorage values;
  } storage;
  const size_t base = blockIdx.x * 512;
  Key k[4];
  Value v[4];
  LoadKeys(storage.keys).Load(keys + base, k);
  __syncthreads();
  LoadValues(storage.values).Load(values + base, v);
  __syncthreads();
  Sort(storage.sort).SortBlockedToStriped(k, v, 0, bits);
  cub::StoreDirectStriped<128>(threadIdx.x, keysOut + base, k);
  cub::StoreDirectStriped<128>(threadIdx.x, valuesOut + base, v);
}
extern "C" __global__ void __launch_bounds__(128)
    cub_sort_floats(int bits, const float *keys, const int *values, float *keysOut, int *valuesOut) {
  sortTile<float, int, cub::BLOCK_LOAD_TRANSPOSE>(keys, values, keysOut, valuesOut, bits);
}
extern "C" __global__ void __launch_bounds__(128)
    cub_sort_longs(const long long *keys, const short *values, int bits, long long *keysOut, short *valuesOut) {
  sortTile<long long, short, cub::BLOCK_LOAD_WARP_TRANSPOSE>(keys, values, keysOut, valuesOut, bits);
}

struct Pair {
  int segment;
  float sum;
};
struct SegmentedSum {
  __device__ Pair operator()(const Pair &a, const Pair &b) const {
    return {b.segment, a.segment == b.segment ? a.sum + b.sum : b.sum};
  }
};
extern "C" __global__ void __launch_bounds__(64)
    cub_scan_pairs(int n, const int *segments, const float *in, float *out) {
  using Scan = cub::BlockScan<Pair, 64, cub::BLOCK_SCAN_RAKING_MEMOIZE>;
  __shared__ typename Scan::TempStorage storage;
  Pair carried = {-1, 0.f};
  for (int start = 0; start < n; start += 64) {
    const int i = start + threadIdx.x;
    Pair mine = {i < n ? segments[i] : -2, i < n ? in[i] : 0.f}, total;
    Scan(storage).InclusiveScan(mine, mine, SegmentedSum(), total);
    if (i < n)
      out[i] = SegmentedSum()(carried, mine).sum;
    carried = SegmentedSum()(carried, total);
    __syncthreads();
  }
}

extern "C" __global__ void __launch_bounds__(128)
    cub_merge_sort(unsigned valid, const unsigned long long *in, unsigned long long *out) {
  using Sort = cub::BlockMergeSort<unsigned long long, 128, 3>;
  __shared__ typename Sort::TempStorage storage;
  unsigned long long items[3];
  for (unsigned i = 0; i < 3; ++i)
    items[i] = threadIdx.x * 3 + i < valid ? in[threadIdx.x * 3 + i] : ~0ull;
  Sort(storage).Sort(items, [](unsigned long long a, unsigned long long b) { return a < b; }, int(valid), ~0ull);
  for (unsigned i = 0; i < 3; ++i)
    if (threadIdx.x * 3 + i < valid)
      out[threadIdx.x * 3 + i] = items[i];
}

extern "C" __global__ void __launch_bounds__(96) cub_warps(float bias, const float *in, int *ranks, float *sums) {
  using Reduce = cub::WarpReduce<float, 16>;
  using Scan = cub::WarpScan<int>;
  __shared__ typename Reduce::TempStorage reduce[6];
  __shared__ typename Scan::TempStorage scan[3];
  const int at = blockIdx.x * 96 + threadIdx.x;
  const float value = in[at] + bias,
              sum = Reduce(reduce[threadIdx.x / 16]).HeadSegmentedSum(value, threadIdx.x % 16 % 5 == 0);
  int rank;
  Scan(scan[threadIdx.x / 32]).ExclusiveSum(value > 0, rank);
  ranks[at] = rank;
  if (threadIdx.x % 16 % 5 == 0)
    sums[at] = sum;
}

extern "C" __global__ void __launch_bounds__(128)
    cub_run_lengths(const int *in, unsigned runs, const unsigned *lengths, int *out) {
  using Decode = cub::BlockRunLengthDecode<int, 128, 1, 2>;
  __shared__ typename Decode::TempStorage storage;
  int value[1] = {threadIdx.x < runs ? in[threadIdx.x] : 0};
  unsigned length[1] = {threadIdx.x < runs ? lengths[threadIdx.x] : 0}, total = 0;
  Decode decode(storage, value, length, total);
  for (unsigned start = 0; start < total; start += 256) {
    int items[2];
    decode.RunLengthDecode(items, start);
    for (unsigned i = 0; i < 2; ++i)
      if (start + 2 * threadIdx.x + i < total)
        out[start + 2 * threadIdx.x + i] = items[i];
    __syncthreads();
  }
}

extern "C" __global__ void __launch_bounds__(128) cub_compact(int threshold, int *count, const int *in, int *out) {
  using Scan = cub::BlockScan<int, 128>;
  using Difference = cub::BlockAdjacentDifference<int, 128>;
  __shared__ union {
    typename Scan::TempStorage scan;
    typename Difference::TempStorage difference;
  } storage;
  int values[2] = {in[2 * threadIdx.x], in[2 * threadIdx.x + 1]}, change[2], at[2];
  Difference(storage.difference).SubtractLeft(values, change, [](int a, int b) { return a - b; });
  __syncthreads();
  int flags[2] = {abs(change[0]) > threshold, abs(change[1]) > threshold}, total;
  Scan(storage.scan).ExclusiveSum(flags, at, total);
  for (int i = 0; i < 2; ++i)
    if (flags[i])
      out[at[i]] = values[i];
  if (threadIdx.x == 0)
    *count = total;
}
