// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/rows/rows.h"

#include "compiler/codegen/strategies/rows/row_paths.h"
#include "compiler/codegen/strategies/rows/rows_writer.h"

using namespace mlir;

namespace tenon::compiler::codegen {

static Plan planOf(StringRef name, const GroupShape &shape, const RowDemand &demand, const RowPath &path) {
  Plan plan{name,
            path.threads,
            {{"lanes", path.lanes},
             {"width", demand.width},
             {"chunks", path.chunks},
             {"shared", path.shared},
             {"blocks", path.blocks},
             {"rows", path.rows}},
            {{extentsOf(shape.parallelAxes()), path.threads / path.lanes * path.rows},
             {{Extent{.size = path.blocks, .value = {}}}, 1}}};
  plan.dynamicSharedBytes = path.shared * demand.bytes * path.threads;
  return plan;
}

std::vector<Plan> Rows::plans(const KernelFunction &kernel, const GroupShape &shape) const {
  if (!hasCombiners(kernel, shape))
    return {};
  const RowDemand demand = RowDemand::of(kernel, shape);
  if (std::optional<int64_t> columns = GroupShape::sizeOf(shape.reducedAxes()))
    return {planOf(name(), shape, demand, rowPath(demand, *columns, GroupShape::sizeOf(shape.parallelAxes())))};
  std::vector<Plan> plans;
  Guard guard{extentsOf(shape.reducedAxes())};
  for (const RowPath &path : rowPathsOfAnyLength(demand)) {
    const bool isLast = path.longest == kAnyLength; // it alone can do without an element
    guard.orEmpty = isLast;
    guard.most = isLast ? std::nullopt : std::optional(path.longest);
    plans.push_back(planOf(name(), shape, demand, path));
    plans.back().guard = guard;
    guard.above = path.longest;
  }
  return plans;
}

std::optional<Plan> Rows::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  std::vector<Plan> all = plans(kernel, shape);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

void Rows::write(Writer &writer) const {
  writeRows(writer);
}

} // namespace tenon::compiler::codegen
