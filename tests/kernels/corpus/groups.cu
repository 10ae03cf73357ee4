// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cooperative groups and libcu++: tiles of every size, groups over a block, a grid and a cluster, barriers, pipelines,
// atomics of every scope, semaphores. groups_test.cpp has the references.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/tuple>

namespace cg = cooperative_groups;

template <int Size> __device__ int tileSum(int value) {
  return cg::reduce(cg::tiled_partition<Size>(cg::this_thread_block()), value, cg::plus<int>());
}
extern "C" __global__ void tile_sums(int step, const int *in, int *out) {
  const cg::thread_block block = cg::this_thread_block();
  const int value = in[block.group_index().x * block.size() + block.thread_rank()];
  int *mine = out + step * (block.group_index().x * block.size() + block.thread_rank());
  mine[0] = tileSum<1>(value), mine[1] = tileSum<2>(value), mine[2] = tileSum<4>(value);
  mine[3] = tileSum<8>(value), mine[4] = tileSum<16>(value), mine[5] = tileSum<32>(value);
}

// Tiles of several warps meet in memory that the kernel gives them.
extern "C" __global__ void __launch_bounds__(256) wide_tiles(const int *in, int n, int *out) {
  __shared__ cg::block_tile_memory<256> memory;
  const cg::thread_block block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<128>(block);
  const int at = blockIdx.x * 256 + threadIdx.x, value = at < n ? in[at] : 0;
  const int sum = cg::reduce(tile, value, cg::plus<int>()), most = cg::reduce(tile, value, cg::greater<int>());
  const int told = tile.shfl(most, 5) + tile.meta_group_rank(); // the whole tile takes part
  if (at < n)
    out[2 * at] = sum, out[2 * at + 1] = told;
}

extern "C" __global__ void coalesced_count(int n, int divisor, const int *in, int *counter, int *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] % divisor == 0) {
    const cg::coalesced_group active = cg::coalesced_threads();
    int at = 0;
    if (active.thread_rank() == 0)
      at = atomicAdd(counter, active.num_threads());
    out[active.shfl(at, 0) + active.thread_rank()] = in[i];
  }
}

extern "C" __global__ void labeled_groups(const int *labels, const float *in, float *sums, unsigned *sizes) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const auto same = cg::labeled_partition(warp, labels[i]);
  sums[i] = cg::reduce(same, in[i], cg::plus<float>());
  sizes[i] = same.size();
}

extern "C" __global__ void tile_scans(int *out, const int *in, unsigned n) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = i < n ? in[i] : 0;
  const int inclusive = cg::inclusive_scan(tile, value),
            exclusive = cg::exclusive_scan(tile, value, cg::bit_xor<int>());
  if (i < n)
    out[2 * i] = inclusive, out[2 * i + 1] = exclusive;
}

// The whole grid meets between two halves of the work.
extern "C" __global__ void grid_normalize(float scale, unsigned n, float *data, double *total) {
  const cg::grid_group grid = cg::this_grid();
  double sum = 0;
  for (unsigned i = grid.thread_rank(); i < n; i += grid.size())
    sum += data[i];
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  sum = cg::reduce(warp, sum, cg::plus<double>());
  if (warp.thread_rank() == 0)
    atomicAdd(total, sum);
  grid.sync();
  const double whole = *reinterpret_cast<volatile double *>(total);
  for (unsigned i = grid.thread_rank(); i < n; i += grid.size())
    data[i] = float(data[i] * scale / whole);
}

extern "C" __global__ void staged_copy(unsigned tiles, const int *in, int *out) {
  __shared__ int stage[128];
  const cg::thread_block block = cg::this_thread_block();
  for (unsigned tile = 0; tile < tiles; ++tile) {
    const size_t at = (size_t(blockIdx.x) * tiles + tile) * 128;
    cg::memcpy_async(block, stage, in + at, cuda::aligned_size_t<16>(sizeof stage));
    cg::wait(block);
    out[at + threadIdx.x] = stage[127 - threadIdx.x] + int(tile);
    block.sync();
  }
}

// A producer half and a consumer half of the block hand buffers to each other.
extern "C" __global__ void __launch_bounds__(128)
    barrier_pipeline(int rounds, const float *in, float factor, float *out) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ float buffer[2][64];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier ready[2], filled[2];
  if (threadIdx.x < 2)
    init(&ready[threadIdx.x], 128), init(&filled[threadIdx.x], 128);
  __syncthreads();
  if (threadIdx.x < 64) {
    for (int i = 0; i < rounds; ++i) {
      ready[i % 2].arrive_and_wait();
      buffer[i % 2][threadIdx.x] = in[i * 64 + threadIdx.x] * factor;
      (void)filled[i % 2].arrive();
    }
  } else {
    (void)ready[0].arrive();
    (void)ready[1].arrive();
    for (int i = 0; i < rounds; ++i) {
      filled[i % 2].arrive_and_wait();
      out[i * 64 + threadIdx.x - 64] = buffer[i % 2][127 - threadIdx.x];
      (void)ready[i % 2].arrive();
    }
  }
}

extern "C" __global__ void pipeline_stages(size_t batches, const int *in, int *out) {
  constexpr int kStages = 2;
  __shared__ int stage[kStages][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  const int *from = in + blockIdx.x * batches * 64;
  for (size_t compute = 0, fetch = 0; compute < batches; ++compute) {
    for (; fetch < batches && fetch < compute + kStages; ++fetch) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, stage[fetch % kStages], from + fetch * 64, cuda::aligned_size_t<16>(sizeof stage[0]),
                         pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    out[(blockIdx.x * batches + compute) * 64 + threadIdx.x] = 3 * stage[compute % kStages][threadIdx.x ^ 1];
    pipeline.consumer_release();
  }
}

extern "C" __global__ void scoped_atomics(int n, const int *in, unsigned *flags, int *largest, double *sum,
                                          unsigned long long *count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  cuda::atomic_ref<int, cuda::thread_scope_device>(*largest).fetch_max(in[i], cuda::memory_order_relaxed);
  cuda::atomic_ref<double, cuda::thread_scope_system>(*sum).fetch_add(in[i] * 0.5, cuda::memory_order_acq_rel);
  cuda::atomic_ref<unsigned, cuda::thread_scope_block>(flags[blockIdx.x])
      .fetch_or(1u << in[i] % 32, cuda::memory_order_seq_cst);
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> ref(*count);
  unsigned long long old = ref.load(cuda::memory_order_acquire);
  while (!ref.compare_exchange_weak(old, old + in[i], cuda::memory_order_acq_rel)) {
  }
}

// Complex numbers and tuples of the standard library, by value too.
extern "C" __global__ void complex_powers(cuda::std::complex<double> z, int n, cuda::std::array<int, 4> powers,
                                          const double2 *in, double2 *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  cuda::std::complex<double> value(in[i].x, in[i].y), result(1, 0);
  for (int p = 0; p < powers[i % 4]; ++p)
    result *= value;
  result += z;
  out[i] = {result.real(), result.imag()};
}
