// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/grouped_filters.h"

#include "compiler/codegen/grouped/filter_sums.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kThreads = 32 * kFilterWarps;

} // namespace

std::optional<Plan> GroupedFiltersStrategy::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  const std::optional<GroupedFilterForm> form = GroupedFilterForm::of(kernel, shape);
  if (!form || !FilterTile::of(*form))
    return std::nullopt;
  return Plan{name(), kThreads, {}, {{SmallVector<Extent>{{form->lines() * form->parts(), Value()}}, 1}}};
}

bool GroupedFiltersStrategy::takes(StringRef choice, int64_t value) const {
  return choice != "threads" || value == kThreads;
}

void GroupedFiltersStrategy::write(Writer &writer) const {
  writeGroupedFilters(writer.kernel, writer.shape, writer.k, writer.space, writer.bodies,
                      *GroupedFilterForm::of(writer.kernel, writer.shape), writer.target);
}

} // namespace tenon::compiler::codegen
