// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/columns/columns.h"

#include "compiler/codegen/kernel/bodies/read_orders.h"
#include "compiler/codegen/strategies/columns/columns_writer.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/odd_columns.h"
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
// Of unknown number, up to the first and up to the second have kernels of their own.
constexpr int64_t kLeastFew = 16, kMostFew = 64, kWideRow = 512;
constexpr uint32_t kFewThreads = 256, kLeastThreads = 64;
// Elements of rows that are kept in a thread's registers.
constexpr uint32_t kKeptElements = 32;
// Columns so few have as many threads beside each other as they are: those of unknown number, and those without
// vectors.
constexpr int64_t kMostNarrow = 32;
// Longer columns, of so few tiles that multiprocessors would be idle, are parts of so many rows, of narrow ones more.
constexpr int64_t kLongColumn = 1024, kRowsOfPart = 512, kRowsOfNarrow = 2048, kFewTiles = 128;
constexpr uint32_t kAcrossTotal = 32; // columns of a block that adds up what parts have left
// A tensor of which an element is no more than that part of the others' lies as it lies.
constexpr uint32_t kFewAcross = 4;
// Rows of a warp that also reads down the columns.
constexpr uint32_t kLeastTurned = 4, kMostTurned = 16;
constexpr int64_t kFewTurnedTiles = 48;
constexpr int64_t kLeastOfTile = 512; // elements
// Columns of fewer such tiles, of which an eighth or more would be idle, are put into tiles with those of the next
// rows.
constexpr int64_t kWholeTiles = 8;
// Of shared memory, so that several blocks fit on a multiprocessor.
constexpr uint32_t kMaxArena = 32 * 1024;

/// Bytes of an element of the tensors that have one for each of the group's, by how they lie: across columns, or down.
struct Orders {
  std::optional<bool> isFirstAcross; // of the tensors that are read
  uint32_t across = 0, down = 0;

  static Orders of(const KernelFunction &kernel, const GroupShape &shape);
};

Orders Orders::of(const KernelFunction &kernel, const GroupShape &shape) {
  Orders orders;
  auto add = [&](GroupShape::Along lies, Type element) {
    if (lies != GroupShape::Along::Same)
      (lies == GroupShape::Along::Apart ? orders.down : orders.across) += dispatch::elementBytes(element);
    return lies == GroupShape::Along::Adjacent || lies == GroupShape::Along::Shifted;
  };
  const unsigned axis = shape.parallel - 1;
  for (const KernelOp &op : kernel.ops) {
    if (!shape.group.coversAllAxes(op.op))
      continue;
    for (const KernelInput &input : op.inputs)
      if (input.isMemory() && dispatch::namesEachOnce(input.tensor.map)) {
        const bool isAcross = add(shape.along(input.tensor, op.op, axis), input.tensor.element);
        orders.isFirstAcross = orders.isFirstAcross.value_or(isAcross);
      }
    for (const KernelOutput &output : op.outputs)
      if (output.isStored && linalg::GenericOp(op.op).getNumReductionLoops() == 0)
        add(shape.along(output.tensor, op.op, axis), output.tensor.element);
    for (auto read : linalg::GenericOp(op.op).getBody()->getOps<tensor::ExtractOp>())
      if (const bool isAlong =
              alongOfRead(kernel, shape, op.op, read, shape.axes.size() - 1) == GroupShape::Along::Shifted;
          isAlong || alongOfRead(kernel, shape, op.op, read, axis) == GroupShape::Along::Shifted)
        add(isAlong ? GroupShape::Along::Apart : GroupShape::Along::Shifted, read.getType());
  }
  return orders;
}

/// Whether the elements that are adjacent in memory belong to different results, in the first tensor that has one for
/// each element of the group. Where tensors lie in both ways and each element is seen once, threads walk down columns
/// as well as along rows, and read whole sectors only so (columns_tile.h). Where only bodies read any, by place (parts
/// put together, a pad), what is stored and what these read says it.
bool liesAcross(const KernelFunction &kernel, const GroupShape &shape) {
  const Orders orders = Orders::of(kernel, shape);
  if (orders.across == 0)
    return false;
  if (!orders.isFirstAcross) {
    // Of few elements a block for each tile is too many: rows share one, and so do columns of few rows (isFlat).
    const std::optional<int64_t> columns = shape.axes[shape.parallel - 1].size,
                                 rows = GroupShape::sizeOf(shape.reducedAxes());
    return orders.across >= orders.down && (!columns || !rows || *columns * *rows >= kLeastOfTile ||
                                            (shape.parallel > 1 && *columns > 1 && *rows <= kMostFew));
  }
  return *orders.isFirstAcross || (kFewAcross * orders.across >= orders.down && sumsOfOnePass(kernel, shape));
}

/// Whether a tile of columns goes on in the next row of them: where they are of few rows, and may themselves be few, no
/// thread is without any.
bool isFlat(const GroupShape &shape, std::optional<int64_t> rows, bool isKept, uint32_t width) {
  if (shape.parallel < 2 || !(isKept || (rows && *rows <= kMostFew)))
    return false;
  const std::optional<int64_t> columns = shape.axes[shape.parallel - 1].size;
  return !columns || *columns < kWholeTiles * kMaxAcross * width;
}

/// Blocks, where it is known how many.
std::optional<int64_t> tilesOf(const GroupShape &shape, int64_t columnsOfTile, bool isFlat) {
  const std::optional<int64_t> columns = isFlat ? GroupShape::sizeOf(shape.parallelAxes())
                                                : shape.axes[shape.parallel - 1].size,
                               outer = isFlat ? 1 : GroupShape::sizeOf(shape.parallelAxes().drop_back());
  if (!columns || !outer)
    return std::nullopt;
  return *outer * int64_t(llvm::divideCeil(uint64_t(*columns), uint64_t(columnsOfTile)));
}

/// Rows of a warp where some tensor lies down the columns, beside those that lie across: as many of its elements as a
/// sector of memory has, and some columns, so that a warp meets few of the others' sectors. 0: none does.
int64_t turnedRows(const KernelFunction &kernel, const GroupShape &shape) {
  constexpr uint32_t kSector = 32;
  uint32_t bytes = 0;
  auto look = [&](const KernelOp &op, const KernelTensor &tensor) {
    if (shape.group.coversAllAxes(op.op) && dispatch::namesEachOnce(tensor.map) &&
        tensor.map.getNumResults() == linalg::GenericOp(op.op).getNumLoops() &&
        shape.along(tensor, op.op, shape.parallel - 1) == GroupShape::Along::Apart &&
        shape.along(tensor, op.op, shape.axes.size() - 1) == GroupShape::Along::Adjacent)
      bytes = std::max(bytes, dispatch::elementBytes(tensor.element));
  };
  for (const KernelOp &op : kernel.ops) {
    for (const KernelInput &input : op.inputs)
      if (input.isMemory() && !input.bodyArgument.use_empty())
        look(op, input.tensor);
    for (const KernelOutput &output : op.outputs)
      if (output.isStored)
        look(op, output.tensor);
  }
  return bytes == 0 ? 0 : std::clamp(kSector / bytes, kLeastTurned, kMostTurned);
}

/// @param rows nothing: it is not known how many there are
/// @param areRagged columns are no multiple of a vector, and are taken one by one
std::optional<Plan> planOf(StringRef name, const KernelFunction &kernel, const GroupShape &shape,
                           std::optional<int64_t> rows, bool areRagged = false) {
  if (!hasCombiners(kernel, shape) || shape.parallel == 0 || !liesAcross(kernel, shape))
    return std::nullopt;
  // What two passes would see, and is stored, a thread had better keep.
  const std::optional<int64_t> most = GroupShape::sizeOf(shape.reducedAxes());
  const bool mayBeKept = readsAgain(kernel, shape) && most && *most <= dispatch::kMostOfKeptColumn;
  const bool isKept = !sumsOfOnePass(kernel, shape) || (mayBeKept && storesElements(kernel, shape));
  if (isKept && (!rows || *rows > dispatch::kMostOfKeptColumn))
    return std::nullopt;
  uint32_t width = narrowedByCalls(kernel, vectorWidth(kernel, shape, shape.parallel - 1));
  uint32_t across = kMaxAcross;
  // Of what bodies read by place, vectors ask whether they are aligned, and those of unknown rows mostly are not.
  if (width == 1) {
    const uint32_t ofReads = narrowedByCalls(kernel, widthOfReads(kernel, shape, shape.parallel - 1));
    (GroupShape::sizeOf(shape.axes) ? width : across) *= ofReads;
  }
  // Of columns that are no multiple of a vector, half a vector may be one that they are.
  const std::optional<int64_t> ofRow = shape.axes[shape.parallel - 1].size;
  if (ofRow)
    for (; width > 2 && *ofRow % width != 0 && *ofRow % (width / 2) == 0; width /= 2)
      across *= 2;
  const bool flat = isFlat(shape, rows, isKept, width);
  // Those that tiles are made of.
  const std::optional<int64_t> columns = flat ? GroupShape::sizeOf(shape.parallelAxes()) : ofRow;
  if (columns)
    across = std::min<uint32_t>(across, llvm::PowerOf2Ceil(llvm::divideCeil(std::max<int64_t>(*columns, 1), width)));
  uint32_t threads = kThreads;
  auto atLeast = [](int64_t rows, int64_t each) {
    return uint32_t(llvm::PowerOf2Ceil(llvm::divideCeil(std::max<int64_t>(rows, 1), each)));
  };
  if (isKept) {
    const uint32_t each = std::max(1u, kKeptElements / (width * std::max(1u, fullInputs(kernel, shape))));
    const uint32_t down = std::min(atLeast(*rows, each), kThreads / kMaxAcross);
    across = kFewThreads / std::min(down, kFewThreads / kMaxAcross);
    if (columns)
      across = std::min(across, atLeast(*columns, width));
    threads = std::max(across * down, kLeastThreads);
  } else if (rows && *rows <= kMostFew) {
    // Of few rows a thread takes all in flight together, and more columns are left for the others.
    const uint32_t down = atLeast(*rows, kInFlight);
    if (!columns || *columns >= kWideRow * width)
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
  if (areRagged || (flat && ofRow && *ofRow % width != 0))
    across *= std::exchange(width, 1);
  Plan plan{name,
            threads,
            {{"width", width}, {"across", across}},
            {{extentsOf(shape.parallelAxes().back()), int64_t(across) * width},
             {extentsOf(shape.parallelAxes().drop_back()), 1}}};
  if (flat) {
    plan.choices.push_back({"flat", 1});
    plan.grid = {{extentsOf(shape.parallelAxes()), int64_t(across) * width}};
  }
  if (isKept)
    plan.choices.push_back({"kept", 1});
  if (const int64_t turned = turnedRows(kernel, shape)) {
    // Few tiles leave multiprocessors idle; rows, which are more, wait for sectors instead.
    if (!isKept && GroupShape::sizeOf(shape.axes) && *tilesOf(shape, int64_t(across) * width, flat) < kFewTurnedTiles)
      return std::nullopt;
    plan.choices.push_back({"turned", turned});
  }
  return plan;
}

/// As many threads beside each other as there are columns, up to the most.
void makeNarrow(Plan &plan, int64_t most = kMostNarrow) {
  plan.choose("narrow", 1);
  plan.choose("across", most);
  plan.grid.front().perBlock = most;
}

bool isFlat(const Plan &plan) {
  return plan.choice("flat") != 0;
}

} // namespace

std::optional<Plan> Columns::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  const std::optional<int64_t> rows = GroupShape::sizeOf(shape.reducedAxes());
  std::optional<Plan> plan = planOf(name(), kernel, shape, rows);
  const bool areFew = rows && *rows <= kLeastFew;
  if (!plan || areFew || isFlat(*plan) || plan->choice("kept") != 0)
    return plan;
  // An odd row has no vector.
  if (const std::optional<int64_t> columns = shape.axes[shape.parallel - 1].size;
      columns && dispatch::areTakenOneByOne(*columns)) {
    const auto width = uint32_t(plan->choice("width"));
    const int64_t most = std::max(kMostNarrow, int64_t(llvm::PowerOf2Ceil(uint64_t(*columns))));
    makeNarrow(*plan, most);
    plan->choose("width", 1);
    // Of no more memory, and a row at least.
    plan->threads = std::max(std::min<uint32_t>(kThreads, plan->threads * width), uint32_t(most));
  }
  return plan;
}

namespace {

/// Kernels for so many rows: of vectors, and of columns that are no multiple of one; columns that are few are one of
/// their own.
std::vector<Plan> plansOf(StringRef name, const KernelFunction &kernel, const GroupShape &shape, const Plan &first,
                          std::optional<int64_t> rows, bool mayBeNarrow) {
  std::vector<Plan> plans = {first};
  const SpaceAxis &columns = shape.axes[shape.parallel - 1];
  const int64_t width = first.choice("width");
  if (columns.size || first.choice("kept") != 0)
    return plans;
  const SmallVector<Extent> length = extentsOf(columns);
  if (width > 1) {
    plans.push_back(*planOf(name, kernel, shape, rows, /*areRagged=*/true));
    plans[0].guards.push_back(Guard{.length = length, .orEmpty = true, .multipleOf = width});
    plans[1].guards.push_back(Guard{.length = length, .noMultipleOf = width});
  }
  if (!mayBeNarrow || isFlat(first))
    return plans;
  plans.push_back(*planOf(name, kernel, shape, rows, /*areRagged=*/true));
  makeNarrow(plans.back());
  for (Plan &plan : plans)
    plan.guards.push_back(&plan == &plans.back() ? Guard{.length = length, .most = kMostNarrow}
                                                 : Guard{.length = length, .above = kMostNarrow, .orEmpty = true});
  return plans;
}

bool isNarrow(const Plan &plan) {
  return plan.choice("narrow") != 0;
}

/// Whether columns of unknown length, one behind the other in what is read, may be few and long: of those that the
/// tensor begins with, the program makes parts (dispatch/splits).
bool mayBeParts(const KernelFunction &kernel, const GroupShape &shape) {
  const std::optional<SmallVector<OnePassSum>> then = sumsOfOnePass(kernel, shape);
  return shape.parallel > 1 && then && then->empty() && !storesElements(kernel, shape) &&
         phasesOf(kernel, shape.group).size() == 1;
}

/// Those for long columns of few tiles, which run instead of `plans`: each leaves what a part adds up, then one adds up
/// these.
std::vector<Plan> plansOfParts(const KernelFunction &kernel, const GroupShape &shape, std::vector<Plan> &plans) {
  const SmallVector<Extent> rows = extentsOf(shape.reducedAxes());
  std::vector<Plan> parts = plans;
  const std::vector<Guard> areParts = {
      Guard{.length = rows, .above = kLongColumn},
      Guard{.most = kFewTiles, .tiles = {plans.front().grid.begin(), plans.front().grid.end()}}};
  for (Plan &plan : plans)
    plan.guards.push_back(Guard{.unless = areParts});
  const SpaceAxis &columns = shape.parallelAxes().back();
  const bool areAllNarrow = llvm::all_of(plans, isNarrow), mayBeNarrow = llvm::any_of(plans, isNarrow);
  std::vector<Plan> totals;
  for (bool narrow : {false, true}) {
    if (narrow ? !mayBeNarrow : areAllNarrow)
      continue;
    Plan total{plans.front().strategy,
               kThreads,
               {{"width", 1}, {"across", kAcrossTotal}, {"total", 1}},
               {{extentsOf(columns), kAcrossTotal}, {extentsOf(shape.parallelAxes().drop_back()), 1}}};
    if (narrow)
      makeNarrow(total, llvm::find_if(plans, isNarrow)->choice("across"));
    if (llvm::any_of(plans, [](const Plan &plan) { return plan.choice("turned") != 0; }))
      total.choose("turned", 1); // what parts leave lies across
    if (mayBeNarrow && !areAllNarrow)
      total.guards.push_back(narrow ? Guard{.length = extentsOf(columns), .most = kMostNarrow}
                                    : Guard{.length = extentsOf(columns), .above = kMostNarrow});
    totals.push_back(total);
  }
  for (Plan &plan : parts)
    plan.grid.push_back({rows, isNarrow(plan) ? kRowsOfNarrow : kRowsOfPart});
  llvm::append_range(parts, totals);
  for (Plan &plan : parts) {
    plan.choose("parts", isNarrow(plan) ? kRowsOfNarrow : kRowsOfPart);
    llvm::append_range(plan.guards, areParts);
  }
  const SmallVector<SmallVector<RowSum>> phases = phasesOf(kernel, shape.group);
  for (const RowSum &sum : phases.front()) {
    Scratch scratch{storedType(sum.sum.type), extentsOf(shape.parallelAxes())};
    llvm::append_range(scratch.extents, rows);
    scratch.share = kRowsOfPart / 2; // a last part may be short
    plans.front().scratch.push_back(scratch);
  }
  return parts;
}

/// The same of known columns, which nothing has taken apart: neither their length nor that of the axes around them has
/// a divisor that makes parts (dispatch/splits). Nothing where they are short, or tiles are enough.
std::optional<std::vector<Plan>> plansOfKnownParts(const KernelFunction &kernel, const GroupShape &shape,
                                                   const Plan &whole) {
  const std::optional<int64_t> rows = GroupShape::sizeOf(shape.reducedAxes());
  if (!rows || *rows <= kLongColumn || isFlat(whole) || !mayBeParts(kernel, shape))
    return std::nullopt;
  const std::optional<int64_t> outer = GroupShape::sizeOf(shape.parallelAxes().drop_back());
  const std::optional<int64_t> tiles = tilesOf(shape, whole.grid.front().perBlock, /*isFlat=*/false);
  if (!outer || !tiles || *tiles == 0 || *tiles > kFewTiles)
    return std::nullopt;
  std::vector<Plan> plans = {whole};
  std::vector<Plan> parts = plansOfParts(kernel, shape, plans);
  for (Plan &plan : parts)
    plan.guards.clear();
  parts.front().scratch = plans.front().scratch;
  return parts;
}

} // namespace

/// Where it is not known how many rows there are: kernels for few and for some more, others for many, and for so many
/// that columns are parts. Columns of unknown number that are no multiple of a vector have one that needs no registers
/// for vectors, and of few rows a thread for each.
std::vector<Plan> Columns::plans(const KernelFunction &kernel, const GroupShape &shape) const {
  std::optional<Plan> any = plan(kernel, shape);
  if (!any)
    return {};
  if (std::optional<std::vector<Plan>> parts = plansOfKnownParts(kernel, shape, *any))
    return *parts;
  const std::optional<int64_t> rows = GroupShape::sizeOf(shape.reducedAxes());
  const SmallVector<Extent> length = extentsOf(shape.reducedAxes());
  std::vector<Plan> plans = plansOf(name(), kernel, shape, *any, rows, /*mayBeNarrow=*/!rows || *rows > kLeastFew);
  if (rows || !planOf(name(), kernel, shape, kMostFew))
    return plans;
  // Narrow columns have the threads that they need, however few rows there are, unless those of few share tiles.
  const bool hasNarrow = llvm::any_of(plans, isNarrow), areFlat = isFlat(*planOf(name(), kernel, shape, kMostFew));
  for (Plan &plan : plans)
    plan.guards.push_back(Guard{length, isNarrow(plan) && !areFlat ? kLeastFew : kMostFew});
  if (mayBeParts(kernel, shape))
    for (Plan &plan : plansOfParts(kernel, shape, plans))
      plans.push_back(plan);
  for (auto [above, most] : {std::pair(int64_t(0), kLeastFew), {kLeastFew, kMostFew}}) {
    if (above != 0 && isNarrow(*any) && !areFlat)
      continue;
    Plan few = *planOf(name(), kernel, shape, most);
    if (isNarrow(*any))
      few.choose("narrow", 0);
    for (Plan &plan : plansOf(name(), kernel, shape, few, most, /*mayBeNarrow=*/false)) {
      plan.guards.insert(plan.guards.begin(), Guard{length, above, most, /*orEmpty=*/above == 0});
      if (above != 0 && hasNarrow && !areFlat)
        plan.guards.push_back(
            Guard{.length = extentsOf(shape.axes[shape.parallel - 1]), .above = kMostNarrow, .orEmpty = true});
      plans.push_back(plan);
    }
  }
  return plans;
}

void Columns::write(Writer &writer) const {
  writeColumns(writer);
}

} // namespace tenon::compiler::codegen
