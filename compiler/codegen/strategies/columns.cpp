// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/columns.h"

#include "compiler/codegen/strategies/columns_writer.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/slices.h"

#include "llvm/Support/MathExtras.h"

#include <utility>

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Vectors of adjacent results that a block takes, less where there are less: 256 bytes of a row of fp32.
constexpr uint32_t kMaxAcross = 16;
constexpr uint32_t kInFlight = 4; // rows that a thread loads before it combines them
constexpr uint32_t kThreads = 512;
// Rows that a few threads, or one, have on their way at once; threads of a block then, where rows have as many vectors.
constexpr int64_t kMostFew = 16, kWideRow = 512;
constexpr uint32_t kFewThreads = 256, kLeastThreads = 64;
// Elements of rows that are kept in a thread's registers.
constexpr uint32_t kKeptElements = 32;
// Of shared memory, so that several blocks fit on a multiprocessor.
constexpr uint32_t kMaxArena = 32 * 1024;

/// Whether the elements that are adjacent in memory belong to different results, in the first tensor that has one for
/// each element of the group.
bool liesAcross(const KernelFunction &kernel, const GroupShape &shape) {
  for (const KernelOp &op : kernel.ops)
    for (const KernelInput &input : op.inputs)
      if (input.isMemory() && shape.group.coversAllAxes(op.op) && dispatch::namesEachOnce(input.tensor.map)) {
        const GroupShape::Along along = shape.along(input.tensor, op.op, shape.parallel - 1);
        return along == GroupShape::Along::Adjacent || along == GroupShape::Along::Shifted;
      }
  return false;
}

/// @param rows nothing: it is not known how many there are
/// @param areRagged columns are no multiple of a vector, and are taken one by one
std::optional<Plan> planOf(StringRef name, const KernelFunction &kernel, const GroupShape &shape,
                           std::optional<int64_t> rows, bool areRagged = false) {
  if (!hasCombiners(kernel, shape) || shape.parallel == 0 || !liesAcross(kernel, shape))
    return std::nullopt;
  const bool isKept = !sumsOfOnePass(kernel, shape);
  if (isKept && (!rows || *rows > dispatch::kMostOfKeptColumn))
    return std::nullopt;
  uint32_t width = narrowedByCalls(kernel, vectorWidth(kernel, shape, shape.parallel - 1));
  uint32_t across = kMaxAcross;
  if (std::optional<int64_t> columns = shape.axes[shape.parallel - 1].size) {
    // Of columns that are no multiple of a vector, half a vector may be one that they are.
    for (; width > 2 && *columns % width != 0 && *columns % (width / 2) == 0; width /= 2)
      across *= 2;
    across = std::min<uint32_t>(across, llvm::PowerOf2Ceil(llvm::divideCeil(std::max<int64_t>(*columns, 1), width)));
  }
  uint32_t threads = kThreads;
  auto atLeast = [](int64_t rows, int64_t each) {
    return uint32_t(llvm::PowerOf2Ceil(llvm::divideCeil(std::max<int64_t>(rows, 1), each)));
  };
  if (isKept) {
    const uint32_t each = std::max(1u, kKeptElements / (width * std::max(1u, fullInputs(kernel, shape))));
    const uint32_t down = std::min(atLeast(*rows, each), kThreads / kMaxAcross);
    across = kFewThreads / std::min(down, kFewThreads / kMaxAcross);
    if (std::optional<int64_t> columns = shape.axes[shape.parallel - 1].size)
      across = std::min(across, atLeast(*columns, width));
    threads = std::max(across * down, kLeastThreads);
  } else if (rows && *rows <= kMostFew) {
    // Of few rows a thread takes all in flight together, and more columns are left for the others.
    const uint32_t down = atLeast(*rows, kInFlight);
    if (std::optional<int64_t> columns = shape.axes[shape.parallel - 1].size; !columns || *columns >= kWideRow * width)
      across = kFewThreads / down;
    threads = std::max(across * down, kLeastThreads);
  }
  uint32_t bytes = 0; // of one column's accumulators
  for (const SmallVector<RowSum> &phase : phasesOf(kernel, shape.group))
    for (const RowSum &sum : phase)
      bytes += dispatch::elementBytes(sum.sum.type);
  while (threads > 8 * kMaxAcross && threads * width * bytes > kMaxArena)
    threads /= 2;
  // Where vectors are not aligned, a thread has one column of those that a vector has.
  across = std::min(across, threads / width);
  if (threads * width * bytes > kMaxArena)
    return std::nullopt;
  if (areRagged)
    across *= std::exchange(width, 1);
  Plan plan{name,
            threads,
            {{"width", width}, {"across", across}},
            {{extentsOf(shape.parallelAxes().back()), int64_t(across) * width},
             {extentsOf(shape.parallelAxes().drop_back()), 1}}};
  if (isKept)
    plan.choices.push_back({"kept", 1});
  return plan;
}

} // namespace

std::optional<Plan> Columns::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  return planOf(name(), kernel, shape, GroupShape::sizeOf(shape.reducedAxes()));
}

/// Where it is not known how many rows there are: one kernel for few, one for more. Columns of unknown number that are
/// no multiple of a vector have one that needs no registers for vectors, and of few rows a thread for each.
std::vector<Plan> Columns::plans(const KernelFunction &kernel, const GroupShape &shape) const {
  std::optional<Plan> any = plan(kernel, shape);
  if (!any)
    return {};
  const int64_t width = any->choice("width");
  const SpaceAxis &columns = shape.axes[shape.parallel - 1];
  const bool mayBeRagged = !columns.size && width > 1 && sumsOfOnePass(kernel, shape);
  // For so many rows: of vectors, and of columns that are no multiple of one.
  auto plansOf = [&](const Plan &first, std::optional<int64_t> rows) {
    std::vector<Plan> plans = {first};
    if (!mayBeRagged)
      return plans;
    const SmallVector<Extent> length = extentsOf(columns);
    plans.push_back(*planOf(name(), kernel, shape, rows, /*areRagged=*/true));
    plans[0].guards.push_back(Guard{.length = length, .orEmpty = true, .multipleOf = width});
    plans[1].guards.push_back(Guard{.length = length, .noMultipleOf = width});
    return plans;
  };
  const std::optional<int64_t> rows = GroupShape::sizeOf(shape.reducedAxes());
  std::vector<Plan> plans = plansOf(*any, rows);
  std::optional<Plan> few = planOf(name(), kernel, shape, kMostFew);
  if (rows || !few)
    return plans;
  const SmallVector<Extent> length = extentsOf(shape.reducedAxes());
  for (Plan &plan : plans)
    plan.guards.push_back(Guard{length, kMostFew});
  for (Plan &plan : plansOf(*few, kMostFew)) {
    plan.guards.insert(plan.guards.begin(), Guard{length, 0, kMostFew, /*orEmpty=*/true});
    plans.push_back(plan);
  }
  return plans;
}

void Columns::write(Writer &writer) const {
  writeColumns(writer);
}

} // namespace tenon::compiler::codegen
