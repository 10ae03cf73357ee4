// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/radix_sort.h"

#include "compiler/codegen/along/lines/lines.h"
#include "compiler/codegen/along/sorting/radix_line.h"
#include "compiler/codegen/along/sorting/radix_sweep.h"
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr StringLiteral kLineChoice = "radix";
constexpr int64_t kMostThreads = RadixKey::kDigits;
// Shorter lines are no faster than by a network of comparisons.
constexpr int64_t kLeastItems = 512;
constexpr int64_t kFewItemsPerThread = 8;

/// Sorts lines of up to `capacity` elements.
Plan linePlan(const LineShape &shape, int64_t capacity, int64_t position) {
  Plan made;
  made.strategy = "sort";
  made.threads = uint32_t(std::min(capacity / kFewItemsPerThread, kMostThreads));
  made.choices = {{kLineChoice, 1}, {"items", capacity / made.threads}, {"position", position}};
  made.grid = {{shape.lines(), 1}};
  return made;
}

} // namespace

std::optional<AlongPlans> radixPlans(const KernelFunction &kernel, int64_t shortLine) {
  auto op = cast<linalg_ext::SortOp>(kernel.along.op);
  std::optional<Comparison> comparison = Comparison::of(op.getRegion().front());
  if (!comparison)
    return std::nullopt;
  const RadixKey key(*comparison);
  const LineShape shape(kernel.along.outputs[0].tensor, op.getDimension());
  const std::optional<int64_t> length = shape.knownLength();
  auto position = IntegerType::get(op.getContext(), length && *length < (int64_t(1) << 31) ? 32 : 64);
  const int64_t tile = radixTile(kernel, key, position);
  AlongPlans plans;
  if (length && *length <= tile) {
    const int64_t capacity = int64_t(llvm::PowerOf2Ceil(uint64_t(*length)));
    if (capacity < kLeastItems)
      return std::nullopt;
    plans.kernels.push_back(linePlan(shape, capacity, position.getWidth()));
    return plans;
  }
  if (length) {
    addRadixSweep(plans, kernel, key, position, {});
    return plans;
  }
  const int64_t middle = std::clamp<int64_t>(2 * shortLine, kLeastItems, tile);
  for (auto [above, most] : {std::pair(shortLine, middle), std::pair(middle, tile)})
    if (above < most) {
      plans.kernels.push_back(linePlan(shape, most, position.getWidth()));
      plans.kernels.back().guards = {Guard{{shape.length}, above, most}};
    }
  addRadixSweep(plans, kernel, key, position, Guard{{shape.length}, tile, std::nullopt});
  return plans;
}

bool isRadixSort(const AlongWriter &writer) {
  return bool(writer.kernel.strategy.getAs<IntegerAttr>(kLineChoice)) || isRadixSweep(writer);
}

void writeRadixSort(AlongWriter &writer) {
  isRadixSweep(writer) ? writeRadixSweep(writer) : writeRadixLine(writer);
}

} // namespace tenon::compiler::codegen
