// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/transposes/transpose.h"

#include "compiler/codegen/strategies/transposes/transpose_tile.h"
#include "compiler/codegen/strategies/transposes/transpose_writer.h"

using namespace mlir;

namespace tenon::compiler::codegen {

static Plan planOf(StringRef name, const KernelFunction &kernel, const GroupShape &shape, const Turn &turn,
                   const TransposeTile &tile) {
  uint32_t width = std::min(vectorWidth(kernel, shape, turn.written), tile.written);
  while (width > 1 && width * workOf(kernel) > kMaxTransposeWork)
    width /= 2;
  SmallVector<SpaceAxis> rest;
  for (auto [number, axis] : llvm::enumerate(shape.axes))
    if (number != turn.written && number != turn.read)
      rest.push_back(axis);
  return Plan{name,
              tile.threads,
              {{"width", width}, {"written", tile.written}, {"read", tile.read}},
              {{extentsOf(shape.axes[turn.written]), tile.written},
               {extentsOf(shape.axes[turn.read]), tile.read},
               {extentsOf(rest), 1}}};
}

/// One for each size of tiles, where it is not known how many elements there are.
std::vector<Plan> Transpose::plans(const KernelFunction &kernel, const GroupShape &shape) const {
  const std::optional<Turn> turn = turnOf(kernel, shape);
  if (!turn)
    return {};
  std::vector<Plan> plans;
  const SmallVector<SizedTile> tiles = tilesOf(*turn, shape);
  std::optional<int64_t> most;
  for (const SizedTile &sized : tiles) {
    plans.push_back(planOf(name(), kernel, shape, *turn, sized.tile));
    const int64_t above = sized.least == 0 ? 0 : sized.least - 1;
    if (tiles.size() > 1)
      plans.back().guards = {Guard{extentsOf(shape.axes), above, most}};
    most = above;
  }
  return plans;
}

std::optional<Plan> Transpose::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  std::vector<Plan> all = plans(kernel, shape);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

void Transpose::write(Writer &writer) const {
  writeTranspose(writer);
}

} // namespace tenon::compiler::codegen
