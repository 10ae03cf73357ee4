// Thread block clusters: a size fixed in the kernel, one chosen at launch, and distributed shared memory.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

#ifdef TWIN_SIZE
#define CLUSTER 4
#else
#define CLUSTER 2
#endif
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) exchange(const float *in, float *out) {
  __shared__ float tile[128];
  cg::cluster_group cluster = cg::this_cluster();
  unsigned i = blockIdx.x * 128 + threadIdx.x;
  tile[threadIdx.x] = in[i];
  cluster.sync();
  const float *other = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
  out[i] = other[threadIdx.x];
  cluster.sync();
}

extern "C" __global__ void cluster_ranks(unsigned *out) {
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0)
    out[blockIdx.x] = cluster.block_rank() * 100 + cluster.num_blocks();
}
