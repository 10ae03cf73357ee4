// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/schedule/special_registers.h"

#include "emulator/machine/cluster.h"

namespace tenon::emulator {

bool changesWithBlock(Special special) {
  switch (special) {
  case Special::CtaidX:
  case Special::CtaidY:
  case Special::CtaidZ:
  case Special::SmId:
  case Special::ClusterIdX:
  case Special::ClusterIdY:
  case Special::ClusterIdZ:
  case Special::ClusterCtaidX:
  case Special::ClusterCtaidY:
  case Special::ClusterCtaidZ:
  case Special::ClusterCtarank:
  case Special::SharedBase:
    return true;
  default:
    return false;
  }
}

uint32_t specialValue(Special special, const Launch &launch, const Block &block, uint32_t warp, uint32_t lane) {
  const Dim3 &shape = launch.block, &grid = launch.grid, &cluster = launch.cluster, &id = block.id;
  uint32_t thread = warp * kLanes + lane, warps = (block.threads + kLanes - 1) / kLanes;
  uint32_t shared = launch.kernel->dynamicSharedStart - kSharedStart + launch.dynamicShared;
  switch (special) {
  case Special::TidX:
    return thread % shape.x;
  case Special::TidY:
    return thread / shape.x % shape.y;
  case Special::TidZ:
    return thread / shape.x / shape.y;
  case Special::NtidX:
    return shape.x;
  case Special::NtidY:
    return shape.y;
  case Special::NtidZ:
    return shape.z;
  case Special::CtaidX:
    return id.x;
  case Special::CtaidY:
    return id.y;
  case Special::CtaidZ:
    return id.z;
  case Special::NctaidX:
    return grid.x;
  case Special::NctaidY:
    return grid.y;
  case Special::NctaidZ:
    return grid.z;
  case Special::LaneId:
    return lane;
  case Special::WarpId:
    return warp;
  case Special::NwarpId:
    return warps;
  case Special::SmId:
    return 0;
  case Special::NsmId:
    return 1;
  case Special::GridId:
    return 1;
  case Special::LanemaskEq:
    return 1u << lane;
  case Special::LanemaskLe:
    return lane == 31 ? kAllLanes : (2u << lane) - 1;
  case Special::LanemaskLt:
    return (1u << lane) - 1;
  case Special::LanemaskGe:
    return ~((1u << lane) - 1);
  case Special::LanemaskGt:
    return lane == 31 ? 0 : ~((2u << lane) - 1);
  case Special::ClusterIdX:
    return id.x / cluster.x;
  case Special::ClusterIdY:
    return id.y / cluster.y;
  case Special::ClusterIdZ:
    return id.z / cluster.z;
  case Special::NclusterIdX:
    return grid.x / cluster.x;
  case Special::NclusterIdY:
    return grid.y / cluster.y;
  case Special::NclusterIdZ:
    return grid.z / cluster.z;
  case Special::ClusterCtaidX:
    return id.x % cluster.x;
  case Special::ClusterCtaidY:
    return id.y % cluster.y;
  case Special::ClusterCtaidZ:
    return id.z % cluster.z;
  case Special::ClusterNctaidX:
    return cluster.x;
  case Special::ClusterNctaidY:
    return cluster.y;
  case Special::ClusterNctaidZ:
    return cluster.z;
  case Special::ClusterCtarank:
    return (id.z % cluster.z * cluster.y + id.y % cluster.y) * cluster.x + id.x % cluster.x;
  case Special::ClusterNctarank:
    return static_cast<uint32_t>(cluster.count());
  case Special::IsExplicitCluster:
    return cluster.count() > 1 ? kAllLanes : 0; // a predicate: the mask of the lanes
  case Special::DynamicSmemSize:
    return launch.dynamicShared;
  case Special::TotalSmemSize:
  case Special::AggrSmemSize:
    return shared;
  case Special::EnvReg1:
    return static_cast<uint32_t>(launch.gridWorkspace >> 32);
  case Special::EnvReg2:
    return static_cast<uint32_t>(launch.gridWorkspace);
  case Special::SharedBase:
    return block.warps[0].sharedBegin & ~kRankOffsetMask;
  case Special::EnvRegOther:
  case Special::Count:
    return 0;
  }
  return 0;
}

} // namespace tenon::emulator
