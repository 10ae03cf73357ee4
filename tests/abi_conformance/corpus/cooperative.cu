// Cooperative groups: tiles, coalesced groups, and a whole grid that meets.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tile_sums(const int *in, int *out, int size) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = cg::reduce(tile, i < size ? in[i] : 0, cg::plus<int>());
  if (tile.thread_rank() == 0)
    out[i / 32] = sum;
  if (i < size && in[i] < 0) {
    cg::coalesced_group active = cg::coalesced_threads();
    if (active.thread_rank() == 0)
      atomicAdd(out, int(active.size()));
  }
}
extern "C" __global__ void two_phases(float *data, int size) {
  cg::grid_group grid = cg::this_grid();
  for (int i = grid.thread_rank(); i < size; i += grid.size())
    data[i] += 1;
  grid.sync();
  for (int i = grid.thread_rank(); i < size; i += grid.size())
    data[i] *= data[size - 1 - i] > 0 ? 2 : 1;
}
