// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/elementwise.h"

#include "compiler/codegen/kernel/bodies/early_reads.h"
#include "compiler/codegen/strategies/elementwise_writer.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// A thread's straight-line code: beyond it, wider threads only cost registers and compile time.
constexpr uint32_t kMaxWorkPerThread = 256;
// Elements of which a thread has so many all the same, where all that is stored has 2 bytes of each, or less.
constexpr uint32_t kLeastOfNarrow = 4, kMostOfNarrow = 1024; // and the most work that they may be

// Vectors of a row that is long enough for those that lie in two rows to be the exception.
constexpr int64_t kShortRow = 2;

// Elements that a thread has on their way where it takes them one by one, of rows shorter than vectors: of one it would
// wait. So many blocks are there all the same.
constexpr int64_t kApartAtOnce = 4, kBlocksOfApart = 1024;

constexpr int64_t kNarrowVector = 8; // elements of two bytes, or less

/// Whether tensors with an element for each of the group's have 2 bytes of each, and wider ones only vectors along rows
/// that are a multiple of 8 long, or may be: of these, which a cache has, a thread may well read two vectors for one of
/// the others.
bool isNarrowByRows(const KernelFunction &kernel, const GroupShape &shape) {
  if (shape.axes.size() < 2 || (shape.axes.back().size && *shape.axes.back().size % 8 != 0))
    return false;
  auto isNarrow = [&](const KernelOp &op, const KernelTensor &tensor) {
    const bool isVector = tensor.map.isProjectedPermutation() && shape.mapOf(tensor, op.op).getNumResults() == 1;
    return dispatch::elementBytes(tensor.element) <= (isVector ? 4 : 2);
  };
  return llvm::all_of(kernel.ops, [&](const KernelOp &op) {
    return shape.group.coversAllAxes(op.op) &&
           llvm::all_of(op.inputs, [&](const KernelInput &in) { return !in.isMemory() || isNarrow(op, in.tensor); }) &&
           llvm::all_of(op.outputs, [&](const KernelOutput &out) { return !out.isStored || isNarrow(op, out.tensor); });
  });
}

/// Whether nothing that is stored has more than 2 bytes of an element: an access of one would bring too little.
bool isNarrow(const KernelFunction &kernel) {
  return llvm::all_of(kernel.ops, [](const KernelOp &op) {
    return llvm::all_of(op.outputs, [](const KernelOutput &out) {
      return !out.isStored || dispatch::elementBytes(out.tensor.element) <= 2;
    });
  });
}

Plan planOf(StringRef name, const KernelFunction &kernel, const GroupShape &shape, uint32_t width) {
  constexpr uint32_t kThreads = 256;
  SmallVector<SpaceAxis> axes(shape.axes);
  int64_t rounds = 1;
  if (const std::optional<unsigned> unrolled = unrolledAxis(kernel, shape)) {
    rounds = *axes[*unrolled].size;
    axes.erase(axes.begin() + *unrolled);
  }
  return Plan{name, kThreads, {{"width", width}, {"unrolled", rounds}}, {{extentsOf(axes), int64_t(kThreads) * width}}};
}

/// Vectors of a thread where the place of each is read first, so that both places are on their way, and then both
/// vectors: of whole rows, by kernels that do little else (an H200, 1048576 of 50000 rows of 1024 f32: 2135 -> 1981 us;
/// copies whose places are known gain nothing).
void takeTwo(Plan &plan, const KernelFunction &kernel, const GroupShape &shape, int64_t multipleOfRow) {
  const int64_t width = plan.choice("width");
  if (width == 1 || shape.axes.size() < 2 || plan.choice("unrolled") > 1 || multipleOfRow % width != 0 ||
      !movesElements(kernel) || !readsNamedPlaces(kernel))
    return;
  const std::optional<int64_t> elements = GroupShape::sizeOf(shape.axes);
  if (elements && *elements < 2 * kBlocksOfApart * plan.threads * width)
    return;
  plan.choose("apart", 2);
  plan.grid.front().perBlock *= 2;
}

/// Of elements that are taken one by one, several.
void takeSeveral(Plan &plan, const KernelFunction &kernel, const GroupShape &shape) {
  const std::optional<int64_t> elements = GroupShape::sizeOf(shape.axes);
  const int64_t ofBlock = int64_t(plan.threads) * kApartAtOnce;
  if (plan.choice("unrolled") > 1 || kApartAtOnce * workOf(kernel) > kMaxWorkPerThread ||
      (elements && *elements < kBlocksOfApart * ofBlock))
    return;
  plan.choose("width", 1);
  plan.choose("apart", kApartAtOnce);
  plan.grid.front().perBlock = ofBlock;
}

} // namespace

std::optional<Plan> Elementwise::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  if (shape.group.hasReduction())
    return std::nullopt;
  uint32_t width = shape.axes.empty() ? 1 : vectorWidth(kernel, shape, shape.axes.size() - 1);
  if (width == 4 && shape.axes.back().size && isNarrowByRows(kernel, shape))
    width = 8;
  // Rows that are no multiple of a vector, but of half a one that is wide enough, are whole vectors. So are those of
  // which most vectors would lie in two: of two elements, say, where a pixel shuffle puts two images beside each other.
  if (shape.axes.size() > 1)
    if (const std::optional<int64_t> row = shape.axes.back().size; row && width > 2 && *row % width != 0) {
      const int64_t most = kShortRow * width;
      if (*row % (width / 2) == 0 && isOfWords(kernel, shape))
        width /= 2;
      while (*row < kShortRow * width && *row % width != 0)
        width /= 2;
      // Odd ones: elements one by one, several of a thread, leave nothing to a warp.
      if (*row < most && *row % 2 != 0)
        width = 1;
    }
  const uint32_t work = workOf(kernel);
  const uint32_t least = isNarrow(kernel) && kLeastOfNarrow * work <= kMostOfNarrow ? kLeastOfNarrow : 1;
  while (width > least && width * work > kMaxWorkPerThread)
    width /= 2;
  Plan plan = planOf(name(), kernel, shape, width);
  if (width == 1 && shape.axes.size() > 1 && shape.axes.back().size)
    takeSeveral(plan, kernel, shape);
  else if (!shape.axes.empty() && shape.axes.back().size)
    takeTwo(plan, kernel, shape, *shape.axes.back().size);
  return plan;
}

/// Rows of unknown length: of whole vectors, of halves, and all others.
std::vector<Plan> Elementwise::plans(const KernelFunction &kernel, const GroupShape &shape) const {
  std::optional<Plan> any = plan(kernel, shape);
  if (!any)
    return {};
  const int64_t width = any->choice("width");
  if (width == 1 || shape.axes.size() < 2 || shape.axes.back().size)
    return {*any};
  const Guard row{extentsOf(shape.axes.back())};
  std::vector<Plan> plans;
  std::optional<int64_t> wider;
  auto add = [&](Plan plan, int64_t multiple) {
    plan.choices.push_back({"multiple", multiple});
    plan.guards = {row};
    plan.guards.back().multipleOf = multiple;
    plan.guards.back().noMultipleOf = wider;
    wider = multiple;
    // Of few elements blocks with one vector a thread are done earlier.
    Plan two = plan;
    takeTwo(two, kernel, shape, multiple);
    if (two.choice("apart") != 0) {
      const int64_t few = kBlocksOfApart * two.grid.front().perBlock;
      plan.guards.push_back(Guard{.length = extentsOf(shape.axes), .most = few, .orEmpty = true});
      two.guards.push_back(Guard{.length = extentsOf(shape.axes), .above = few});
      plans.push_back(std::move(two));
    }
    plans.push_back(std::move(plan));
  };
  if (width == 4 && isNarrowByRows(kernel, shape) && 8 * workOf(kernel) <= kMaxWorkPerThread)
    add(planOf(name(), kernel, shape, 8), 8);
  for (int64_t multiple = width; multiple >= (takesHalves(kernel, width) ? width / 2 : width); multiple /= 2)
    add(*any, multiple);
  any->guards = {row};
  any->guards.back().noMultipleOf = wider;
  // Narrow ones that are shorter than two vectors lie in two rows, most of them. Of more axes it is their positions
  // that take the time, which lanes share.
  if (Plan few = *any; width == kNarrowVector && shape.axes.size() == 2) {
    takeSeveral(few, kernel, shape);
    if (few.choice("width") == 1) {
      few.guards.back().most = kShortRow * width - 1;
      any->guards.back().above = kShortRow * width - 1;
      plans.push_back(std::move(few));
    }
  }
  plans.push_back(*any);
  return plans;
}

/// Of one axis no position is divided, or multiplied.
bool Elementwise::asksForSmall(const KernelFunction &, const GroupShape &shape) const {
  return shape.axes.size() > 1;
}

void Elementwise::write(Writer &writer) const {
  writeElementwise(writer, *this);
}

} // namespace tenon::compiler::codegen
