// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums that the blocks of a cluster have taken apart (divided_sums.h). Of each consumer's columns, a unit is eight: a
// thread has two columns of them, in two rows of each of its parts of the tile. They lie where the stages of operands
// were: behind the last of the block's steps, and before those of its next tile, the cluster meets.
#include "compiler/codegen/contraction/kernels/divided_sums.h"
#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_roles.h"

using namespace mlir;

namespace tenon::compiler::codegen {

void WarpgroupProduct::writeWithCluster(Tile &tile, const Values &sums) {
  constexpr uint32_t kColumnsOfUnit = 8, kOfUnit = kGroupRows * kColumnsOfUnit / kGroupThreads;
  constexpr uint32_t kThreads = kConsumers * kGroupThreads;
  const size_t ofPart = sums.size() / parts();
  SmallVector<Values> units;
  for (size_t first = 0; first < ofPart; first += kOfUnit) {
    Values &unit = units.emplace_back();
    for (uint32_t part = 0; part < parts(); ++part)
      llvm::append_range(unit, ArrayRef<Value>(sums).slice(part * ofPart + first, kOfUnit));
  }
  // Neither consumer reads a stage any more.
  Value thread = k_.add(k_.mul(group_, k_.number(kGroupThreads)), thread_);
  k_.asTeam(thread, kThreads, k_.number(kBarrierOfConsumers), [&] { k_.barrier(); });
  auto writeColumns = [&](Value first, ArrayRef<Values> added) {
    Values all;
    for (uint32_t part = 0; part < parts(); ++part)
      for (const Values &unit : added)
        llvm::append_range(all, ArrayRef<Value>(unit).slice(part * kOfUnit, kOfUnit));
    write(tile, all, uint32_t(added.size()) * kColumnsOfUnit,
          k_.add(firstColumn(), k_.mul(first, k_.number(kColumnsOfUnit))));
  };
  // Copies of the next tile's operands come behind these accesses.
  DividedSums(kernel_, arena_, rank_, thread, kThreads).add(units, writeColumns, [&] { core_.publish(); });
}

} // namespace tenon::compiler::codegen
