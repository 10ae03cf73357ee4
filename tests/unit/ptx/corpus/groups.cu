// Cooperative groups: tiles, grid synchronisation, reductions. minimum: compute_75
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void groups(int *x) {
  cg::grid_group grid = cg::this_grid();
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  x[grid.thread_rank()] = cg::reduce(tile, x[0], cg::plus<int>());
  grid.sync();
  cg::coalesced_group active = cg::coalesced_threads();
  x[1] = active.shfl(x[2], 0) + tile.meta_group_rank();
}
