// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/warpgroup_attention.h"

#include "compiler/codegen/attention/hopper/key_value_copies.h"
#include "compiler/codegen/attention/hopper/query_group.h"
#include "compiler/codegen/attention/hopper/warpgroup_block.h"

using namespace mlir;

namespace tenon::compiler::codegen {

uint32_t warpgroupAttentionBytes(const WarpgroupAttentionShape &shape) {
  return WarpgroupBlock::bytes(shape);
}

void writeWarpgroupAttention(const AttentionKernel &kernel, const WarpgroupAttentionShape &shape, ValueRange tensorMaps,
                             const KeyParts *parts) {
  KernelBuilder &k = kernel.k;
  k.wantResident(shape.resident());
  WarpgroupBlock block(kernel, shape, tensorMaps, parts);
  KeyValueCopies copies(block);
  QueryGroup queries(block);
  Value isFast = copies.isFast();
  Value filling = copies.filling(isFast);
  k.when(k.equal(k.thread(), k.number(0)), [&] { block.ring.create(filling, shape.consumers); });
  k.barrier();
  k.branch(
      k.equal(block.group, k.number(shape.consumers)),
      [&] {
        k.leaveRegisters(shape.producerRegisters());
        block.asTeam([&] { copies.run(isFast); });
      },
      [&] {
        k.takeRegisters(shape.consumerRegisters());
        block.asTeam([&] { queries.run(); });
      });
}

} // namespace tenon::compiler::codegen
