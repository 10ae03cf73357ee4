// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/decode/special_names.h"

#include "emulator/machine/machine.h"

namespace tenon::emulator {
namespace {

struct SpecialName {
  std::string_view name;
  Special special;
};
constexpr SpecialName kSpecialNames[] = {
    {"%tid.x", Special::TidX},
    {"%tid.y", Special::TidY},
    {"%tid.z", Special::TidZ},
    {"%ntid.x", Special::NtidX},
    {"%ntid.y", Special::NtidY},
    {"%ntid.z", Special::NtidZ},
    {"%ctaid.x", Special::CtaidX},
    {"%ctaid.y", Special::CtaidY},
    {"%ctaid.z", Special::CtaidZ},
    {"%nctaid.x", Special::NctaidX},
    {"%nctaid.y", Special::NctaidY},
    {"%nctaid.z", Special::NctaidZ},
    {"%laneid", Special::LaneId},
    {"%warpid", Special::WarpId},
    {"%nwarpid", Special::NwarpId},
    {"%smid", Special::SmId},
    {"%nsmid", Special::NsmId},
    {"%gridid", Special::GridId},
    {"%lanemask_eq", Special::LanemaskEq},
    {"%lanemask_le", Special::LanemaskLe},
    {"%lanemask_lt", Special::LanemaskLt},
    {"%lanemask_ge", Special::LanemaskGe},
    {"%lanemask_gt", Special::LanemaskGt},
    {"%clusterid.x", Special::ClusterIdX},
    {"%clusterid.y", Special::ClusterIdY},
    {"%clusterid.z", Special::ClusterIdZ},
    {"%nclusterid.x", Special::NclusterIdX},
    {"%nclusterid.y", Special::NclusterIdY},
    {"%nclusterid.z", Special::NclusterIdZ},
    {"%cluster_ctaid.x", Special::ClusterCtaidX},
    {"%cluster_ctaid.y", Special::ClusterCtaidY},
    {"%cluster_ctaid.z", Special::ClusterCtaidZ},
    {"%cluster_nctaid.x", Special::ClusterNctaidX},
    {"%cluster_nctaid.y", Special::ClusterNctaidY},
    {"%cluster_nctaid.z", Special::ClusterNctaidZ},
    {"%cluster_ctarank", Special::ClusterCtarank},
    {"%cluster_nctarank", Special::ClusterNctarank},
    {"%dynamic_smem_size", Special::DynamicSmemSize},
    {"%total_smem_size", Special::TotalSmemSize},
    {"%aggr_smem_size", Special::AggrSmemSize},
    {"%envreg1", Special::EnvReg1},
    {"%envreg2", Special::EnvReg2},
};

} // namespace

std::optional<uint32_t> findReservedShared(std::string_view name) {
  constexpr std::string_view kStem = "%reserved_smem_offset_";
  if (!name.starts_with(kStem))
    return std::nullopt;
  struct Offset {
    std::string_view name;
    uint32_t value;
  };
  for (const Offset &offset :
       {Offset{"begin", 0}, {"end", kReservedSharedBytes}, {"cap", kSharedStart}, {"0", 0}, {"1", 0}})
    if (name.substr(kStem.size()) == offset.name)
      return offset.value;
  return std::nullopt;
}

bool isOtherSpecial(std::string_view name) {
  return name.starts_with("%pm") || name == "%current_graph_exec";
}

std::optional<Special> findSpecial(std::string_view name) {
  for (const SpecialName &special : kSpecialNames)
    if (special.name == name)
      return special.special;
  if (name.starts_with("%envreg"))
    return Special::EnvRegOther;
  return std::nullopt;
}

} // namespace tenon::emulator
