// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/warpgroup_attention.h"

#include "compiler/codegen/attention/key_value_copies.h"
#include "compiler/codegen/attention/query_group.h"
#include "compiler/codegen/attention/warpgroup_block.h"

using namespace mlir;

namespace tenon::compiler::codegen {

std::optional<WarpgroupAttentionShape> WarpgroupAttentionShape::of(const GroupShape &shape,
                                                                   const Attention &attention) {
  auto sizeOf = [&](ArrayRef<unsigned> axes) {
    int64_t size = 1;
    for (unsigned axis : axes)
      size *= shape.axes[axis].size.value_or(0);
    return size;
  };
  const int64_t depth = sizeOf(attention.scores.reduced), columns = sizeOf(attention.output.columns);
  auto isTaken = [](int64_t size) { return size == 64 || size == 128; };
  if (!attention.tensorCoreElement() || !isTaken(depth) || !isTaken(columns) || !attention.scores.left.isAlongReduced ||
      !attention.scores.right.isAlongReduced || attention.output.right.isAlongReduced)
    return std::nullopt;
  constexpr uint32_t kKeys = WarpgroupBlock::kKeys;
  WarpgroupAttentionShape found{
      uint32_t(depth), uint32_t(columns),
      mapOf(shape, attention.scores, attention.scores.right, kKeys, WarpgroupBlock::kTileDepth),
      mapOf(shape, attention.output, attention.output.right, uint32_t(columns), kKeys)};
  if (!found.keys || !found.values)
    found.keys = found.values = std::nullopt;
  return found;
}

uint32_t warpgroupAttentionBytes(const WarpgroupAttentionShape &shape) {
  return WarpgroupBlock::bytes(shape);
}

void writeWarpgroupAttention(const AttentionKernel &kernel, const WarpgroupAttentionShape &shape,
                             ValueRange tensorMaps) {
  KernelBuilder &k = kernel.k;
  k.wantResident(1);
  WarpgroupBlock block(kernel, shape, tensorMaps);
  KeyValueCopies copies(block);
  QueryGroup queries(block);
  Value isFast = copies.isFast();
  Value filling = copies.filling(isFast);
  k.when(k.equal(k.thread(), k.number(0)), [&] { block.ring.create(filling, WarpgroupBlock::kConsumers); });
  k.barrier();
  k.branch(
      k.equal(block.group, k.number(WarpgroupBlock::kConsumers)),
      [&] {
        k.leaveRegisters(WarpgroupBlock::kProducerRegisters);
        block.asTeam([&] { copies.run(isFast); });
      },
      [&] {
        k.takeRegisters(WarpgroupBlock::kConsumerRegisters);
        block.asTeam([&] { queries.run(); });
      });
}

} // namespace tenon::compiler::codegen
