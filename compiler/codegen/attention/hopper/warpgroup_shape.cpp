// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/warpgroup_shape.h"

using namespace mlir;

namespace tenon::compiler::codegen {

std::optional<WarpgroupAttentionShape> WarpgroupAttentionShape::of(const GroupShape &shape,
                                                                   const Attention &attention) {
  const int64_t depth = shape.sizeOf(attention.scores.reduced).value_or(0),
                columns = shape.sizeOf(attention.output.columns).value_or(0);
  auto isTaken = [](int64_t size) { return size > 0 && size <= 256 && size % kTileDepth == 0; };
  if (!attention.tensorCoreElement() || !isTaken(depth) || !isTaken(columns) || !attention.scores.left.isAlongReduced ||
      !attention.scores.right.isAlongReduced || attention.output.right.isAlongReduced)
    return std::nullopt;
  WarpgroupAttentionShape found{uint32_t(depth), uint32_t(columns), std::nullopt, std::nullopt};
  // A map of several summed axes numbers its tiles by patches of an image, which attention's loops do not count.
  if (attention.scores.reduced.size() != 1 || attention.output.reduced.size() != 1)
    return found;
  found.keyMap = mapOf(shape, attention.scores, attention.scores.right, found.keys(), kTileDepth);
  found.valueMap = mapOf(shape, attention.output, attention.output.right, uint32_t(columns), found.keys());
  if (!found.keyMap || !found.valueMap)
    found.keyMap = found.valueMap = std::nullopt;
  return found;
}

} // namespace tenon::compiler::codegen
