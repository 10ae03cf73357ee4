// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/grouped.h"

#include "compiler/codegen/grouped/windows.h"

using namespace mlir;

namespace tenon::compiler::codegen {

std::optional<Plan> Grouped::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  const std::optional<GroupedForm> form = GroupedForm::of(kernel, shape);
  const std::optional<GroupedTile> tile = form ? GroupedTile::of(*form) : std::nullopt;
  if (!tile)
    return std::nullopt;
  SmallVector<SpaceAxis> outer;
  for (unsigned axis : form->outer)
    outer.push_back(shape.axes[axis]);
  return Plan{
      name(), kGroupedThreads, {}, {{extentsOf(outer), 1}, {SmallVector<Extent>{{tile->tilesOf(*form), Value()}}, 1}}};
}

bool Grouped::takes(StringRef choice, int64_t value) const {
  return choice != "threads" || value == kGroupedThreads;
}

void Grouped::write(Writer &writer) const {
  writeGroupedWindows(writer.kernel, writer.shape, writer.k, writer.space, writer.bodies,
                      *GroupedForm::of(writer.kernel, writer.shape), writer.target);
}

} // namespace tenon::compiler::codegen
