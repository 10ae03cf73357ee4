// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/channel_filters.h"

#include "compiler/codegen/grouped/channel_sums.h"

using namespace mlir;

namespace tenon::compiler::codegen {

std::optional<Plan> ChannelFiltersStrategy::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  const std::optional<ChannelForm> form = ChannelForm::of(kernel, shape);
  if (!form)
    return std::nullopt;
  const int64_t blocks = ChannelTile::of(*form).chunks(*form) * form->parts();
  return Plan{name(), uint32_t(kChannelThreads), {}, {{SmallVector<Extent>{{blocks, Value()}}, 1}}};
}

bool ChannelFiltersStrategy::takes(StringRef choice, int64_t value) const {
  return choice != "threads" || value == kChannelThreads;
}

void ChannelFiltersStrategy::write(Writer &writer) const {
  writeChannelFilters(writer.kernel, writer.shape, writer.k, writer.space, writer.bodies,
                      *ChannelForm::of(writer.kernel, writer.shape));
}

} // namespace tenon::compiler::codegen
