// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/rows/rows.h"

#include "compiler/codegen/strategies/rows/row_parts.h"
#include "compiler/codegen/strategies/rows/row_paths.h"
#include "compiler/codegen/strategies/rows/rows_writer.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/reduction_body.h"

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

/// When the path is the one of several that runs.
static SmallVector<Guard> guardsOf(const GroupShape &shape, const RowPath &path) {
  const bool isLast = path.longest == kAnyLength; // it alone can do without an element
  SmallVector<Guard> guards = {Guard{extentsOf(shape.reducedAxes()), path.above,
                                     isLast ? std::nullopt : std::optional(path.longest),
                                     /*orEmpty=*/isLast}};
  if (!GroupShape::sizeOf(shape.parallelAxes()) && (path.moreRowsThan != 0 || path.mostRows != kAnyLength))
    guards.push_back(Guard{extentsOf(shape.parallelAxes()), path.moreRowsThan,
                           path.mostRows == kAnyLength ? std::nullopt : std::optional(path.mostRows)});
  return guards;
}

/// The kernel of the parts of rows, and the one that adds up what they leave.
static std::vector<Plan> partsOf(StringRef name, const GroupShape &shape, const RowDemand &demand, uint32_t parts) {
  std::vector<Plan> plans = {planOf(name, shape, demand, {.blocks = parts}), planOf(name, shape, demand, {})};
  for (Plan &plan : plans)
    plan.choose("parts", parts);
  plans.back().choose("total", 1);
  return plans;
}

/// Of few results long sums whose elements several results read, or none one by one: the diagonals of matrices, boxes
/// against boxes. A thread for each result (windows) would leave most of the device idle; where results beside each
/// other read what lies beside each other, a row's threads read a line of memory each, and results are fewer.
static bool isFewOfMany(const KernelFunction &kernel, const GroupShape &shape) {
  constexpr int64_t kMostResults = 1 << 14, kMostAcross = 1 << 11, kLeastOfSum = 256;
  const std::optional<int64_t> results = GroupShape::sizeOf(shape.parallelAxes()),
                               elements = GroupShape::sizeOf(shape.reducedAxes());
  if (!shape.group.hasReduction() || !results || !elements || *elements < kLeastOfSum)
    return false;
  const bool isAcross = shape.parallel != 0 && llvm::any_of(kernel.ops, [&](const KernelOp &op) {
                          return llvm::any_of(op.inputs, [&](const KernelInput &input) {
                            const auto along = input.isMemory() ? shape.along(input.tensor, op.op, shape.parallel - 1)
                                                                : GroupShape::Along::Same;
                            return shape.group.coversAllAxes(op.op) &&
                                   (along == GroupShape::Along::Adjacent || along == GroupShape::Along::Shifted);
                          });
                        });
  if (*results > (isAcross ? kMostAcross : kMostResults))
    return false;
  const bool combines = llvm::all_of(kernel.ops, [](const KernelOp &op) {
    return linalg::GenericOp(op.op).getNumReductionLoops() == 0 || dispatch::reductionBodyOf(op.op);
  });
  return combines && phasesOf(kernel, shape.group).size() == 1 && !readsAgain(kernel, shape) &&
         !storesElements(kernel, shape);
}

std::vector<Plan> Rows::plans(const KernelFunction &kernel, const GroupShape &shape) const {
  if (!hasCombiners(kernel, shape) && !isFewOfMany(kernel, shape))
    return {};
  const RowDemand demand = RowDemand::of(kernel, shape);
  const std::optional<int64_t> rows = GroupShape::sizeOf(shape.parallelAxes());
  if (std::optional<int64_t> columns = GroupShape::sizeOf(shape.reducedAxes())) {
    const RowPath path = rowPath(demand, *columns, rows);
    const std::optional<uint32_t> parts = partsOfRow(kernel, shape, demand, path);
    if (!parts)
      return {planOf(name(), shape, demand, path)};
    std::vector<Plan> plans = partsOf(name(), shape, demand, *parts);
    plans.front().scratch = scratchOfParts(kernel, shape, *parts);
    return plans;
  }
  std::vector<Plan> plans;
  auto limit = kernel.function->getAttrOfType<IntegerAttr>(dispatch::kLongestAttr);
  auto least = kernel.function->getAttrOfType<IntegerAttr>(dispatch::kShortestAttr);
  for (const RowPath &path :
       rowPathsOfAnyLength(demand, limit ? std::optional(limit.getInt()) : std::nullopt, least ? least.getInt() : 0)) {
    if (rows && (std::max<int64_t>(*rows, 1) <= path.moreRowsThan || *rows > path.mostRows))
      continue;
    plans.push_back(planOf(name(), shape, demand, path));
    Plan &plan = plans.back();
    plan.guards = guardsOf(shape, path);
    if (path.chunks != 0 && path.above != 0)
      plan.choices.push_back({"least", path.above + 1});
  }
  auto clusters =
      llvm::find_if(plans, [](const Plan &plan) { return plan.choice("blocks") > 1 && plan.choice("chunks") == 0; });
  if (clusters == plans.end() || !mayBeParts(kernel, shape, demand))
    return plans;
  SmallVector<Guard> areLong = {Guard{.length = extentsOf(shape.reducedAxes()), .above = kLeastOfUnknown}};
  if (!rows)
    areLong.push_back(Guard{.length = extentsOf(shape.parallelAxes()), .most = kMostOfUnknown});
  clusters->guards.push_back(Guard{.unless = {areLong.begin(), areLong.end()}});
  for (Plan &plan : partsOf(name(), shape, demand, kPartsOfUnknown)) {
    plan.guards = areLong;
    plans.push_back(plan);
  }
  plans.front().scratch = scratchOfParts(kernel, shape, kPartsOfUnknown);
  return plans;
}

std::optional<Plan> Rows::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  std::vector<Plan> all = plans(kernel, shape);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

/// Positions of rows cost little, but for what bodies read by place along several axes: each vector asks where it is.
/// What reads rows again is many kernels of much code, of which a second form would take the compiler too long.
bool Rows::asksForSmall(const KernelFunction &kernel, const GroupShape &shape) const {
  return !kernel.gathered.empty() && shape.axes.size() > 2 &&
         (GroupShape::sizeOf(shape.axes) || !(readsAgain(kernel, shape) || storesElements(kernel, shape)));
}

void Rows::write(Writer &writer) const {
  writeBySize(*this, writer, [&] { writeRows(writer); });
}

} // namespace tenon::compiler::codegen
