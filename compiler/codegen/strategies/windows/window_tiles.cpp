// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/windows/window_tiles.h"

#include "abi/arch_table.h"
#include "compiler/dispatch/analysis/border.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// The same of windows whose thread computes a tile of results: all that the tile combines is straight-line code.
constexpr int64_t kMostCombined = 400, kMostWindow = 49;
constexpr WindowTile kTiles[] = {{4, 4}, {2, 4}, {1, 4}, {2, 2}, {1, 2}};
// Where windows slide along the last axis, too, as over an image whose channels come first: elements that lanes read
// lie across vectors. Threads have one lane, and more lines.
constexpr WindowTile kTilesOfLines[] = {{1, 8}, {1, 4}, {1, 2}};
// Results of which a thread takes half as many lanes, as it does of long windows, and more, of which it takes two: what
// it reads on its way takes the registers.
constexpr int64_t kManyResults = 8;
constexpr uint32_t kFewLanes = 2;
// The same of an image with zeros between its elements, of which it reads few: of narrow ones twice as many (measured
// on an H200: bf16, 3 x 3, steps of two, 56 x 56, 144 channels 16.2 -> 14.8 us).
constexpr uint32_t kLanesOfDilated = 4;
// The last tiles of an axis compute again what those before have: so many results in all for each that there is. Of
// large tiles less is worth it.
constexpr double kMostWaste = 1.4, kMostWasteOfLarge = 1.25;
// Threads that keep a large device busy, of tiles: each of them has many loads on their way.
constexpr int64_t kManyThreads = 40'000;
// Where windows slide down a tile: lines and neighbours of a line, what is combined in all (it is straight-line code),
// and numbers that a thread keeps in registers: the filters, and the sums of all lines that a row is part of.
constexpr int64_t kSlidingRuns[] = {4, 2}, kMostSlid = 1400, kMostKept = 104;
// Of long windows, such as all places of an image, a thread has what they slide along, all of it or nothing: places of
// the window of a gradient by the filters. Sums of a thread.
constexpr int64_t kMostAlongLong = 7;
constexpr size_t kMostSumsOfLong = 52;
// Instructions that an element costs when it is read, as one of so many lanes, beside those that combine it.
constexpr double kReadOfOne = 5, kReadOfTwo = 3;
// Of short windows and narrow elements, where that leaves no line and no neighbour over (measured on an H100: bf16, 3 x
// 3, 112 x 112, 32 channels 23.0 -> 21.8 us, 56 x 56, 144 channels 27.0 -> 24.4).
constexpr WindowTile kWideTile{7, 4, 4};
constexpr uint32_t kNarrowLanes = 8; // of 16 bytes
// Elsewhere windows slide down whole columns of narrow elements, where that leaves so many threads (14 x 14, 576
// channels 9.1 -> 6.1).
constexpr int64_t kEnoughForColumns = 64'000;

// Tiles of windows that overlap along both axes, as a model of an H200 chooses them (measured:
// benchmarks/results/conv_h200_2026_11_30b.md). Results of a line, what is combined in all, registers of a thread, and
// bytes of its lanes: those of 16 bytes have few neighbours, and read more again. Blocks are small, so that no
// multiprocessor has much more to do than others.
// Of larger windows, more results, for which memory is all that matters, and few ones it is no better than the tiles
// above.
constexpr int64_t kMostOfModel = 25, kLeastResults = 1 << 16, kMostResults = 1 << 23;
constexpr int64_t kMostRun = 14, kMostOfTile = 1400, kMostRegisters = 168;
constexpr double kMostLaneBytes = 8, kWordBytes = 4;
constexpr uint32_t kThreadsOfTile = 128;
// Instructions of a thread ahead of its first read, beside those of each lane: of an element that is read, of one of
// the filters, and of a result; where results are stored under conditions, all wait at each of these.
constexpr double kAhead = 60, kOfRead = 2, kOfFilter = 1, kOfResult = 2, kOfConditions = 1.4;
// Registers beside those of sums and elements, and how much of what is read at once is on its way together.
constexpr double kOtherRegisters = 16, kOnItsWay = 0.6;
// Blocks without which schedulers have too few warps, of which one is ready in each cycle.
constexpr double kLeastBlocks = 2;
// Instructions of a scheduler in a microsecond, bytes that all caches give in it once more, and what a round of blocks
// takes to begin and end.
constexpr double kInstructions = 1700, kBytesAgain = 33e6, kMicrosecondsOfRound = 0.2;
constexpr int64_t kMultiprocessors = abi::kHopperMultiprocessors, kSchedulers = 4, kRegistersOfAll = 65536;

} // namespace

int64_t sideAlong(const GroupShape &shape, unsigned axis, WindowTile tile) {
  return axis + 2 == shape.parallel ? tile.run : axis + 3 == shape.parallel ? tile.lines : 1;
}

int64_t tilesOf(const GroupShape &shape, WindowTile tile) {
  int64_t tiles = 1;
  for (auto [number, axis] : llvm::enumerate(shape.parallelAxes()))
    tiles *= int64_t(llvm::divideCeil(*axis.size, sideAlong(shape, unsigned(number), tile)));
  return tiles;
}

SmallVector<Extent> tileExtents(const GroupShape &shape, WindowTile tile) {
  SmallVector<Extent> extents{Extent{1, Value()}}; // all that are known, then the others
  for (auto [number, axis] : llvm::enumerate(shape.parallelAxes()))
    if (axis.size)
      extents.front().size *= int64_t(llvm::divideCeil(*axis.size, sideAlong(shape, unsigned(number), tile)));
    else
      llvm::append_range(extents, axis.extents);
  return extents;
}

GroupShape withImages(const GroupShape &shape, int64_t images) {
  GroupShape assumed = shape;
  for (unsigned axis = 0; axis < shape.parallel; ++axis)
    assumed.axes[axis].size = shape.axes[axis].size.value_or(images);
  return assumed;
}

bool canRun(const GroupShape &shape) {
  return shape.parallel >= 2 && shape.axes[shape.parallel - 1].size && shape.axes[shape.parallel - 2].size &&
         shape.axes[shape.parallel - 2].axes.size() == 1;
}

bool canHaveLines(const GroupShape &shape) {
  return canRun(shape) && shape.parallel >= 3 && shape.axes[shape.parallel - 3].size &&
         shape.axes[shape.parallel - 3].axes.size() == 1;
}

std::optional<WindowAlong> windowAlong(const KernelFunction &kernel, const GroupShape &shape, unsigned axis) {
  std::optional<WindowAlong> found;
  auto axisOf = [&](unsigned groupAxis) {
    return unsigned(
        llvm::find_if(shape.axes, [&](const SpaceAxis &each) { return llvm::is_contained(each.axes, groupAxis); }) -
        shape.axes.begin());
  };
  auto look = [&](const KernelOp &op, AffineMap map, ArrayRef<int64_t> dilations = {}) {
    linalg::GenericOp generic = op.op;
    const SmallVector<unsigned> groupAxes = shape.group.axisOf.lookup(op.op);
    const SmallVector<int64_t> sizes = generic.getStaticLoopRanges();
    for (auto [dimension, expr] : llvm::enumerate(map.getResults())) {
      const std::optional<dispatch::LinearExpr> linear = dispatch::LinearExpr::of(expr, map.getNumDims());
      if (!linear || isa<AffineDimExpr>(expr))
        continue;
      WindowAlong window;
      if (!dilations.empty())
        window.dilation = dilations[dimension];
      bool isAlong = false;
      unsigned summed = 0;
      for (auto [loop, factor] : llvm::enumerate(linear->factors)) {
        if (factor == 0)
          continue;
        if (llvm::is_contained(shape.axes[axis].axes, groupAxes[loop]) && factor > 0) {
          window.step = factor;
          isAlong = true;
        } else if (generic.getIteratorTypesArray()[loop] == utils::IteratorType::reduction) {
          window.length = sizes[loop];
          window.apart = factor;
          window.axis = axisOf(groupAxes[loop]);
          ++summed;
        }
      }
      if (isAlong && summed == 1 && !ShapedType::isDynamic(window.length))
        found = window;
    }
  };
  for (const KernelOp &op : kernel.ops) {
    if (linalg::GenericOp(op.op).getNumReductionLoops() == 0)
      continue;
    for (const KernelInput &input : op.inputs)
      if (input.isMemory())
        look(op, input.tensor.map);
    linalg::GenericOp generic = op.op;
    for (auto select : generic.getBody()->getOps<arith::SelectOp>()) {
      Attribute outside;
      if (!matchPattern(select.getFalseValue(), m_Constant(&outside)))
        continue;
      if (const std::optional<dispatch::Border> border = dispatch::borderOfUnknown(select, generic, outside))
        look(op, border->map);
      else if (const std::optional<dispatch::DilatedImage> dilated = dispatch::dilatedImageOf(select, generic))
        look(op, dilated->map, dilated->steps);
    }
  }
  return found;
}

/// The tile that windows slide down which takes the fewest instructions for a result; nothing where none does.
static std::optional<WindowTile> slidingTile(const GroupShape &shape, const WindowAlong &along,
                                             const WindowAlong &across, uint32_t width) {
  const SpaceAxis &lines = shape.axes[shape.parallel - 3], &places = shape.axes[shape.parallel - 2];
  // A result's sum takes the rows of its window in order.
  if (across.axis != shape.parallel || shape.reducedAxes().size() < 2)
    return std::nullopt;
  const int64_t results = *GroupShape::sizeOf(shape.parallelAxes()), window = *GroupShape::sizeOf(shape.reducedAxes());
  const int64_t ofRow = window / across.length;
  std::optional<WindowTile> best;
  double least = 0;
  for (int64_t down = kMostLinesAtOnce + 1; down <= std::min(*lines.size, kMostSlidingLines); ++down)
    for (int64_t run : kSlidingRuns)
      for (uint32_t lanes = std::min(width, kFewLanes); lanes != 0; lanes /= 2) {
        const WindowTile tile{down, run, lanes};
        const int64_t open = int64_t(llvm::divideCeil(across.length * std::abs(across.apart), across.step));
        const double all = double(tilesOf(shape, tile) * tile.size());
        if (*places.size < run || window * tile.size() > kMostSlid || (window + open * run) * lanes > kMostKept ||
            tilesOf(shape, tile) / lanes < kManyThreads || all > kMostWaste * double(results))
          continue;
        const int64_t read = across.placesOf(down) * along.placesOf(run) * (ofRow / along.length);
        const double each =
            double(window) + double(read) / double(tile.size()) * (lanes == 1 ? kReadOfOne : kReadOfTwo);
        const double cost = each * all;
        if (!best || cost < least)
          best = tile, least = cost;
      }
  return best;
}

/// How long a tile takes, beside what memory does once; nothing where a thread has no registers for it.
/// @param bytes of an element that is read
static std::optional<double> timeOf(const GroupShape &shape, const WindowAlong &along, const WindowAlong &across,
                                    const WindowTile &tile, double bytes) {
  const auto lanes = double(tile.width), size = double(tile.size());
  const auto window = double(*GroupShape::sizeOf(shape.reducedAxes()));
  // Dimensions beside the two are read anew for each of their places.
  const double row = window / double(across.length * along.length) * double(along.placesOf(tile.run)),
               read = row * double(across.placesOf(tile.lines));
  // Sums that are open, filters and a row as numbers; or all sums, and what is on its way as it lies in memory.
  const auto open =
      double(std::min<int64_t>(tile.lines, llvm::divideCeil(across.length * std::abs(across.apart), across.step)));
  const double kept = tile.slides() ? open * double(tile.run) + window + row
                                    : size + (window + read) * kOnItsWay * bytes / kWordBytes,
               registers = kept * lanes + kOtherRegisters;
  if (registers > double(kMostRegisters))
    return std::nullopt;
  const int64_t tiles = tilesOf(shape, tile), results = *GroupShape::sizeOf(shape.parallelAxes());
  const double instructions = (kAhead + read * (kOfRead + lanes) + window * (1 + kOfFilter) * lanes +
                               window * size * lanes + size * (kOfResult + lanes / 2)) *
                              (tiles * tile.size() == results ? 1 : kOfConditions);
  const auto blocks = double(llvm::divideCeil(tiles, int64_t(tile.width) * tile.threads));
  const double each = std::ceil(blocks / kMultiprocessors), warps = double(tile.threads) / 32 / kSchedulers;
  const auto resident =
      double(kRegistersOfAll / (int64_t(llvm::alignTo(uint64_t(registers), 8)) * int64_t(tile.threads)));
  const double again = double(tiles) * (read - size * double(along.step * across.step)) * bytes / kBytesAgain;
  return std::max(each, kLeastBlocks) * warps * instructions / kInstructions +
         std::ceil(each / resident) * kMicrosecondsOfRound + std::max(again, 0.0);
}

/// Of windows that overlap along both axes the tile that is done first.
static std::optional<WindowTile> fastestTile(const KernelFunction &kernel, const GroupShape &shape,
                                             const WindowAlong &along, const WindowAlong &across, uint32_t width) {
  const int64_t lines = *shape.axes[shape.parallel - 3].size, places = *shape.axes[shape.parallel - 2].size;
  const int64_t results = *GroupShape::sizeOf(shape.parallelAxes()), window = *GroupShape::sizeOf(shape.reducedAxes());
  const double bytes = 16.0 / readWidth(kernel, shape, shape.parallel - 1);
  // A result's sum takes the rows of its window in order.
  const bool maySlide = across.axis == shape.parallel && shape.reducedAxes().size() >= 2;
  std::optional<WindowTile> best;
  double least = 0;
  for (int64_t down = 1; down <= std::min(lines, maySlide ? kMostSlidingLines : kMostLinesAtOnce); ++down)
    for (int64_t run = 1; run <= std::min(places, kMostRun); ++run)
      for (uint32_t lanes = width; double(lanes) * bytes >= kWordBytes; lanes /= 2) {
        const WindowTile tile{down, run, lanes, kThreadsOfTile};
        if (double(lanes) * bytes > kMostLaneBytes || window * tile.size() > kMostOfTile ||
            double(tilesOf(shape, tile) * tile.size()) > kMostWaste * double(results))
          continue;
        const std::optional<double> taken = timeOf(shape, along, across, tile, bytes);
        if (taken && (!best || *taken < least))
          best = tile, least = *taken;
      }
  return best;
}

/// Of long windows: what is read for one of the results that they slide along is there for the others.
static WindowTile tileOfLong(const KernelFunction &kernel, const GroupShape &shape, uint32_t width, size_t sums) {
  const WindowTile one{1, 1, width};
  if (width == 1 || !canRun(shape) || !windowAlong(kernel, shape, shape.parallel - 2))
    return one;
  WindowTile tile{1, *shape.axes[shape.parallel - 2].size, std::min(width, kFewLanes)};
  if (canHaveLines(shape) && windowAlong(kernel, shape, shape.parallel - 3))
    tile.lines = *shape.axes[shape.parallel - 3].size;
  const bool fits = tile.run <= kMostAlongLong && tile.lines <= kMostAlongLong && tile.size() > 1 &&
                    size_t(tile.size()) * tile.width * sums <= kMostSumsOfLong &&
                    tilesOf(shape, tile) / tile.width >= kManyThreads;
  return fits ? tile : one;
}

WindowTile tileFor(const KernelFunction &kernel, const GroupShape &shape, uint32_t width, size_t sums) {
  const WindowTile one{1, 1, width};
  const std::optional<int64_t> window = GroupShape::sizeOf(shape.reducedAxes());
  if (window && *window >= kLongWindow)
    return tileOfLong(kernel, shape, width, sums);
  if (!canRun(shape) || !window || *window > kMostWindow || *window <= 1)
    return one;
  const unsigned last = shape.parallel - 1;
  const std::optional<WindowAlong> along = windowAlong(kernel, shape, last - 1),
                                   across = canHaveLines(shape) ? windowAlong(kernel, shape, last - 2) : std::nullopt;
  if (!along)
    return one;
  const bool isDense = along->dilation == 1 && (!across || across->dilation == 1);
  const bool overlaps = across && sums == 1 && width > 1 && across->step < across->length && isDense;
  const int64_t all = *GroupShape::sizeOf(shape.parallelAxes());
  if (overlaps && along->step < along->length && *window <= kMostOfModel && all >= kLeastResults && all <= kMostResults)
    if (const std::optional<WindowTile> fastest = fastestTile(kernel, shape, *along, *across, width))
      return *fastest;
  const std::optional<WindowTile> sliding = overlaps ? slidingTile(shape, *along, *across, width) : std::nullopt;
  if (sliding && *window > kInFlight)
    return *sliding;
  const bool isNarrow = sliding && width == kNarrowLanes && across->step == 1;
  if (isNarrow && *shape.axes[last - 2].size % kWideTile.lines == 0 &&
      *shape.axes[last - 1].size % kWideTile.run == 0 &&
      tilesOf(shape, kWideTile) / kWideTile.width >= 2 * kManyThreads)
    return kWideTile;
  const int64_t results = *GroupShape::sizeOf(shape.parallelAxes());
  auto knowsElements = [&](const WindowTile &tile) {
    return along->knowsElements(tile.run, *shape.axes[last - 1].size) &&
           (!across || across->knowsElements(tile.lines, *shape.axes[last - 2].size));
  };
  for (WindowTile tile : width == 1 ? ArrayRef(kTilesOfLines) : ArrayRef(kTiles)) {
    const bool hasMore = !isDense && width == kNarrowLanes;
    if (tile.size() > kManyResults)
      tile.width = std::min(width, hasMore ? kLanesOfDilated : kFewLanes);
    else
      tile.width = tile.size() == kManyResults || *window > kInFlight ? std::max(width / 2, 1U) : width;
    if ((tile.lines > 1 && !across) || *window * tile.size() > kMostCombined ||
        tile.size() * tile.width * sums > (hasMore ? 2 : 1) * kMostAccumulators ||
        tilesOf(shape, tile) / tile.width < kManyThreads || *shape.axes[last - 1].size < tile.run ||
        !knowsElements(tile) ||
        double(tilesOf(shape, tile) * tile.size()) >
            (tile.size() > kManyResults ? kMostWasteOfLarge : kMostWaste) * double(results) ||
        (tile.lines > 1 && *shape.axes[last - 2].size < tile.lines))
      continue;
    // Windows that hardly overlap are read once, in any tile.
    const int64_t separate = *window * tile.size();
    const int64_t together = *window / along->length / (across ? across->length : 1) * along->placesOf(tile.run) *
                             (across ? across->placesOf(tile.lines) : 1);
    if (together < separate)
      return isNarrow && tile.size() < kTiles[0].size() &&
                     tilesOf(shape, *sliding) / sliding->width >= kEnoughForColumns
                 ? *sliding
                 : tile;
  }
  return one;
}

uint32_t readWidth(const KernelFunction &kernel, const GroupShape &shape, unsigned axis) {
  uint32_t widest = 0;
  auto look = [&](const KernelTensor &tensor, const KernelOp &op) {
    if (shape.along(tensor, op.op, axis) != GroupShape::Along::Same)
      widest = std::max(widest, dispatch::elementBytes(tensor.element));
  };
  for (const KernelOp &op : kernel.ops) {
    if (linalg::GenericOp(op.op).getNumReductionLoops() == 0)
      continue;
    for (const KernelInput &input : op.inputs)
      if (input.isMemory())
        look(input.tensor, op);
    for (const KernelBorder &border : op.borders)
      look(border.tensor, op);
  }
  return widest == 0 ? 1 : 16 / std::max(widest, 2U);
}

} // namespace tenon::compiler::codegen
