// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cooperative groups beyond one warp: tiles of 64 threads and more keep barriers and scratch in memory that the device
// reserves in each block (%reserved_smem_offset_1, sm_80 on) or, before, in memory of the program; groups by label;
// copies to shared memory by a whole group.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

/// Of each thread: the sum of its tile, the sum up to it, its neighbour's value, whether some value is 3.
template <int Size> __device__ void tiles(const int *in, int *out) {
#if __CUDA_ARCH__ >= 800
  cg::thread_block block = cg::this_thread_block();
#else
  __shared__ cg::block_tile_memory<512> memory;
  cg::thread_block block = cg::this_thread_block(memory);
#endif
  auto tile = cg::tiled_partition<Size>(block);
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i], *o = out + 4 * i;
  o[0] = cg::reduce(tile, v, cg::plus<int>());
  tile.sync();
  o[1] = cg::inclusive_scan(tile, v);
  tile.sync();
  o[2] = tile.shfl(v, 5);
  tile.sync();
  o[3] = tile.any(v == 3);
}
extern "C" __global__ void tiles64(const int *in, int *out) {
  tiles<64>(in, out);
}
extern "C" __global__ void tiles256(const int *in, int *out) {
  tiles<256>(in, out);
}
extern "C" __global__ void tiles512(const int *in, int *out) {
  tiles<512>(in, out);
}

// The warps of a tile meet; those of other tiles do not wait.
extern "C" __global__ void tileBarrier(const int *in, int *out) {
  __shared__ int values[512];
#if __CUDA_ARCH__ >= 800
  cg::thread_block block = cg::this_thread_block();
#else
  __shared__ cg::block_tile_memory<512> memory;
  cg::thread_block block = cg::this_thread_block(memory);
#endif
  auto tile = cg::tiled_partition<128>(block);
  int sum = 0;
  for (int round = 0; round <= tile.meta_group_rank(); ++round) {
    values[threadIdx.x] = in[threadIdx.x] + round;
    tile.sync();
    sum += values[threadIdx.x / 128 * 128 + (threadIdx.x + 33) % 128];
    tile.sync();
  }
  out[threadIdx.x] = sum;
}

// How many threads of a warp have the same remainder.
extern "C" __global__ void labels(const int *in, int *out) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto same = cg::labeled_partition(warp, in[threadIdx.x] % 5);
  out[threadIdx.x] = cg::reduce(same, 1, cg::plus<int>());
}

extern "C" __global__ void reverseBlocks(const int *in, int *out) {
  extern __shared__ int staged[];
  cg::thread_block block = cg::this_thread_block();
  int first = blockIdx.x * blockDim.x;
  cg::memcpy_async(block, staged, in + first, sizeof(int) * blockDim.x);
  cg::wait(block);
  out[first + threadIdx.x] = staged[blockDim.x - 1 - threadIdx.x];
}
