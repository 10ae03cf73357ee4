// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/windows/windows.h"

#include "compiler/codegen/strategies/windows/window_rows.h"
#include "compiler/codegen/strategies/windows/windows_writer.h"

using namespace mlir;

namespace tenon::compiler::codegen {

static constexpr uint32_t kThreads = 256;
// Of an unknown number of images, what tiles are chosen for, and up to how many images are few.
static constexpr int64_t kFewImages = 1, kManyImages = 16, kMostFewImages = 4;

/// @param images where it is not known how many there are, a plan for so many
static std::optional<Plan> planFor(StringRef name, const KernelFunction &kernel, const GroupShape &shape,
                                   int64_t images) {
  const bool combines = shape.group.hasReduction() && llvm::all_of(kernel.ops, [](const KernelOp &op) {
                          linalg::GenericOp generic = op.op;
                          return generic.getNumReductionLoops() == 0 || dispatch::reductionBodyOf(generic).has_value();
                        });
  if (!combines || phasesOf(kernel, shape.group).size() != 1 || readsAgain(kernel, shape) ||
      storesElements(kernel, shape))
    return std::nullopt;
  const std::optional<WindowAlong> across =
      shape.parallel == 0 ? std::nullopt : windowAlong(kernel, shape, shape.parallel - 1);
  const bool isAcross = across && across->dilation == 1;
  uint32_t width = shape.parallel == 0 || isAcross ? 1 : vectorWidth(kernel, shape, shape.parallel - 1);
  const size_t sums = phasesOf(kernel, shape.group).front().size();
  const std::optional<int64_t> window = GroupShape::sizeOf(shape.reducedAxes());
  if (width > 1 && window && *window >= kLongWindow)
    if (const uint32_t read = readWidth(kernel, shape, shape.parallel - 1);
        read > width && shape.axes[shape.parallel - 1].size.value_or(1) % read == 0)
      width = read;
  while (width > 1 && width * sums > kMostAccumulators)
    width /= 2;
  const GroupShape assumed = withImages(shape, images);
  const std::optional<WindowTile> ofRows = isAcross ? tileOfRows(kernel, assumed, sums) : std::nullopt;
  const WindowTile tile =
      canRun(shape) ? ofRows ? *ofRows : tileFor(kernel, assumed, width, sums) : tileFor(kernel, shape, width, sums);
  SmallVector<Extent> extents = extentsOf(shape.parallelAxes());
  if (tile.size() > 1)
    extents = tileExtents(shape, tile);
  return Plan{name,
              tile.threads,
              {{"width", tile.width}, {"run", tile.run}, {"lines", tile.lines}},
              {{extents, int64_t(tile.threads) * tile.width}}};
}

std::optional<Plan> Windows::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  return planFor(name(), kernel, shape, kManyImages);
}

std::vector<Plan> Windows::plans(const KernelFunction &kernel, const GroupShape &shape) const {
  std::optional<Plan> few = planFor(name(), kernel, shape, kFewImages),
                      many = planFor(name(), kernel, shape, kManyImages);
  if (!few)
    return {};
  if (few->choices == many->choices)
    return {*many};
  SmallVector<Extent> images;
  for (const SpaceAxis &axis : shape.parallelAxes())
    if (!axis.size)
      llvm::append_range(images, axis.extents);
  few->guards = {Guard{images, 0, kMostFewImages, /*orEmpty=*/true}};
  many->guards = {Guard{images, kMostFewImages}};
  return {*few, *many};
}

bool Windows::takes(StringRef choice, int64_t value) const {
  if (choice == "threads")
    return value == kThreads || value == kThreads / 2;
  return choice == "lines" ? value >= 1 && value <= kMostSlidingLines
                           : choice != "run" || (value >= 1 && value <= kMostSlidingLines);
}

void Windows::write(Writer &writer) const {
  writeWindows(writer);
}

} // namespace tenon::compiler::codegen
