// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/unknown_sizes.h"

#include "abi/arch_table.h"
#include "compiler/codegen/contraction/kernels/warpgroup/warpgroup_product.h"
#include "compiler/codegen/contraction/operands/computed_tile.h"
#include "compiler/codegen/contraction/operands/shifted_lines.h"
#include "compiler/codegen/strategies/products/plans/tiles/cluster_sums.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Kernels for all sizes: each takes time to compile, those without warpgroups more of it.
constexpr size_t kMostOfWarpgroups = 5, kMostOfOthers = 4, kMostOfTiles = 3;
// What is gained by sums that are taken apart has to be more than what the model may be wrong by (an H200: bf16 nt 64 x
// 4096 x 4096 in tiles of 64 x 128 by three blocks 11.5 us, 10 predicted; 128 x 4096 x 14336, 128 x 256 by six, 41 and
// 37).
constexpr double kDoubtOfWarpgroups = 1.15, kDoubtOfOthers = 1.08;
// Bytes in a microsecond that the second-level cache gives all multiprocessors together, and the memory (bf16 nt 256 x
// 4096 x 4096 in tiles of 64 x 128: 13e6).
constexpr double kBytesOfCaches = 13e6, kBytesOfMemory = 5e6;
// A step of the smallest tile takes so long at least, in microseconds (64 x 4096 x 4096 and 14336: 0.2), and those of
// 64 rows so many times longer where each step's sums are added for themselves (f8: 128 and 256 x 4096 x 4096).
constexpr double kMicrosecondsOfSmallest = 0.2, kOfAddedSteps = 1.3;
// A kernel is not for such a size: a narrower one has all rows, or columns.
constexpr double kNotForSize = 8;
// Each position of a tile whose elements threads copy takes a step so long, in microseconds. Where lines are shifted
// products are computed meanwhile (an H200, bf16: 2000 x 1000 x 1283 in tiles of 128 x 128 0.0058, 512 x 8448 x 2001
// 0.0047).
constexpr double kMicrosecondsOfCopied = 0.0115, kMicrosecondsOfShifted = 0.0055;
// Where it is unknown how many there are: reduced elements that tiles are chosen for; and up to how many steps, or
// elements without warpgroups, sums stay whole.
constexpr int64_t kAssumedReduced = 2048, kWholeSteps = 32, kWholeReduced = 512;
// Steps of shifted lines take four times as long (bf16 nt 96 x 1000 x 1283, 21 steps: 29.5 us whole, 17.9 by eight
// blocks).
constexpr int64_t kWholeShiftedSteps = 8;
// Of each block of a cluster: steps, or elements without warpgroups.
constexpr double kLeastSteps = 4;
constexpr int64_t kLeastReduced = 64;
// Several unknown sizes are a number of such tiles.
constexpr int64_t kTileRows = 64, kTileColumns = 128;
constexpr int64_t kBlocksOfCluster[] = {2, 3, 4, 5, 6, 8};

/// Sizes of an axis in front of which tiles begin; each range of sizes that double has as many.
std::vector<int64_t> positionsOfAxis() {
  std::vector<int64_t> sizes = {8, 16, 32};
  for (int64_t step = 64, size = 64; size <= 32768; size += step) {
    sizes.push_back(size);
    if (size >= 32 * step)
      step *= 2;
  }
  return sizes;
}

/// Numbers of steps, tiles or elements of a batch.
std::vector<int64_t> numbersUpTo(int64_t most) {
  std::vector<int64_t> sizes;
  for (int64_t number = 1; number <= most; number = std::max(number + 1, number * 9 / 8))
    sizes.push_back(number);
  return sizes;
}

class UnknownSizes {
public:
  UnknownSizes(const GroupShape &shape, const Product &product, RowStarts starts)
      : shape_(shape), product_(product), isByWarpgroups_(product.warpElement() != nullptr),
        shifts_(starts == RowStarts::Split) {
    for (unsigned axis : llvm::concat<const unsigned>(product.batch, product.rows, product.columns, product.reduced))
      if (!shape.axes[axis].size)
        unknown_.push_back(axis);
  }

  std::vector<SizedKernel> run() {
    if (unknown_.empty() || !isPlain() || !findKernels())
      return {};
    if (unknown_.size() == 1)
      return byAxis(unknown_.front());
    // Where hardly anything is known, addresses take the registers that wider tiles need.
    llvm::erase_if(kernels_, [](const SizedKernel &kernel) { return kernel.columns > kLargeTile; });
    return byTiles();
  }

private:
  bool isPlain() const {
    auto isOne = [](ArrayRef<unsigned> axes) { return axes.size() == 1; };
    return isOne(product_.rows) && isOne(product_.columns) && isOne(product_.reduced) && !product_.routes &&
           product_.places.empty() && !product_.left.border && !product_.right.border;
  }

  /// All that might be chosen.
  bool findKernels() {
    auto add = [&](const auto &tile, bool mayBeDeep) {
      kernels_.push_back({tile.rows, tile.columns, 1, {}});
      if (mayBeDeep)
        for (int64_t deep : kBlocksOfCluster)
          kernels_.push_back({tile.rows, tile.columns, deep, {}});
    };
    if (!isByWarpgroups_) {
      for (const ScalarTile &tile : scalarTiles(product_))
        add(tile, canDivide(shape_, product_, tile));
      return scalarTiles(product_).size() > 1;
    }
    if (ComputedTile::operandOf(product_, shape_))
      return false;
    for (const WarpgroupTile &tile : warpgroupTiles()) {
      if (tile.rows > kLargeTile || !isWarpgroupTile(tile.rows, tile.columns, product_.right))
        continue;
      if (shifts_ && !mayShiftLines(uint32_t(tile.rows), uint32_t(tile.columns)))
        continue;
      hasBoxes_ = !shifts_ && haveBoxes(shape_, product_, tile);
      if (!hasBoxes_ && !mayCopyRows(product_))
        return false;
      add(tile, mayShareInCluster(shape_, product_, tile));
    }
    return true;
  }

  std::vector<SizedKernel> byAxis(unsigned axis) const {
    std::vector<int64_t> sizes = positionsOfAxis();
    if (llvm::is_contained(product_.batch, axis))
      sizes = numbersUpTo(1024);
    if (llvm::is_contained(product_.reduced, axis)) {
      sizes = numbersUpTo(512);
      for (int64_t &size : sizes)
        size *= kTileRows;
    }
    auto shapeOf = [&](int64_t size) {
      GroupShape known = shape_;
      known.axes[axis].size = size;
      return known;
    };
    Guard guard;
    guard.length = extentsOf(shape_.axes[axis]);
    std::vector<SizedKernel> found = few(sizes, shapeOf, guard, isByWarpgroups_ ? kMostOfWarpgroups : kMostOfOthers);
    if (axis == product_.rows.front() || axis == product_.columns.front())
      for (SizedKernel &kernel : found)
        if (!kernel.guards.empty() && !kernel.guards.front().orEmpty)
          kernel.least = kernel.guards.front().above + 1;
    return found;
  }

  std::vector<SizedKernel> byTiles() const {
    Guard guard;
    auto addFactor = [&](ArrayRef<unsigned> axes, int64_t each) {
      SmallVector<Extent> extents;
      for (unsigned axis : axes)
        llvm::append_range(extents, shape_.axes[axis].extents);
      guard.tiles.push_back({extents, each});
    };
    addFactor(product_.batch, 1);
    addFactor(product_.rows, kTileRows);
    addFactor(product_.columns, kTileColumns);
    const std::vector<int64_t> sizes = numbersUpTo(4096);
    std::vector<SizedKernel> found = few(sizes, [&](int64_t tiles) { return withTiles(tiles); }, guard, kMostOfTiles);
    if (!shape_.sizeOf(product_.reduced))
      leaveShortSums(found, sizes, guard);
    return found;
  }

  /// The shape with so many tiles: of unknown rows and columns, about as many of each.
  GroupShape withTiles(int64_t tiles) const {
    GroupShape known = shape_;
    const unsigned rows = product_.rows.front(), columns = product_.columns.front(), reduced = product_.reduced.front();
    std::optional<int64_t> &ofRows = known.axes[rows].size, &ofColumns = known.axes[columns].size;
    int64_t left = tiles;
    auto take = [&](std::optional<int64_t> size, int64_t each) {
      if (size)
        left = int64_t(
            llvm::divideCeil(uint64_t(left), llvm::divideCeil(uint64_t(std::max<int64_t>(*size, 1)), uint64_t(each))));
    };
    take(ofRows, kTileRows);
    take(ofColumns, kTileColumns);
    for (unsigned axis : product_.batch)
      take(known.axes[axis].size, 1);
    if (!ofRows) {
      const auto high = ofColumns ? left : int64_t(std::lround(std::sqrt(double(left * kTileColumns / kTileRows))));
      ofRows = high * kTileRows;
      take(ofRows, kTileRows);
    }
    if (!ofColumns) {
      ofColumns = left * kTileColumns;
      left = 1;
    }
    for (unsigned axis : product_.batch)
      if (std::optional<int64_t> &size = known.axes[axis].size; !size)
        size = std::exchange(left, 1);
    if (!known.axes[reduced].size)
      known.axes[reduced].size = kAssumedReduced;
    return known;
  }

  std::vector<SizedKernel> few(ArrayRef<int64_t> sizes, llvm::function_ref<GroupShape(int64_t)> shapeOf,
                               const Guard &guard, size_t most) const {
    KernelTimes times{sizes.vec(), std::vector<std::vector<double>>(kernels_.size())};
    for (int64_t size : sizes) {
      const GroupShape known = shapeOf(size);
      for (auto [kernel, ofKernel] : llvm::zip_equal(kernels_, times.times))
        ofKernel.push_back(timeOf(known, kernel));
    }
    std::vector<SizedKernel> found;
    const std::vector<FewKernel> chosen = fewKernelsOf(times, most);
    for (const FewKernel &each : chosen) {
      found.push_back(kernels_[each.number]);
      if (chosen.size() > 1)
        found.back().guards = {guardedBySize(guard, sizes, each.runs)};
    }
    return found;
  }

  /// Sums of unknown length are taken apart only where each block has some of it. A kernel more is for the others.
  void leaveShortSums(std::vector<SizedKernel> &found, ArrayRef<int64_t> sizes, const Guard &guard) const {
    const int64_t wholeSteps = shifts_ ? kWholeShiftedSteps : kWholeSteps;
    const int64_t whole = isByWarpgroups_ ? wholeSteps * warpgroupDepth(product_.left.value.getType()) : kWholeReduced;
    Guard ofLength;
    ofLength.length = extentsOf(shape_.axes[product_.reduced.front()]);
    std::vector<bool> runs(sizes.size());
    for (SizedKernel &kernel : found) {
      if (kernel.deep == 1)
        continue;
      for (auto [number, size] : llvm::enumerate(sizes))
        runs[number] = runs[number] || kernel.guards.empty() || kernel.guards.front().holdsFor(size);
      kernel.guards.push_back(ofLength);
      kernel.guards.back().above = whole;
    }
    if (!llvm::is_contained(runs, true))
      return;
    SizedKernel rest{kTileRows, isByWarpgroups_ ? kTileColumns : kTileRows, 1, {}};
    for (const SizedKernel &kernel : found) // that there is anyway
      if (kernel.deep == 1 && (rest.guards.empty() || kernel.rows * kernel.columns < rest.rows * rest.columns))
        rest = kernel;
    rest.guards = {guardedBySize(guard, sizes, runs)};
    rest.guards.push_back(ofLength);
    rest.guards.back().most = whole;
    rest.guards.back().orEmpty = true;
    found.insert(found.begin(), rest);
  }

  /// Whole tiles may wait for what the caches bring to all multiprocessors, or for memory, which is read once at least.
  double timeOfWhole(const GroupShape &known, const WarpgroupTile &tile) const {
    constexpr double kStepBytes = 128;
    const int64_t tiles = *warpgroupTilesOf(known, product_, tile);
    const auto rounds = double(llvm::divideCeil(uint64_t(tiles), uint64_t(kMultiprocessors)));
    const double positions =
        double(*known.sizeOf(product_.batch)) * double(*known.sizeOf(product_.rows) + *known.sizeOf(product_.columns));
    // In a last round that is part empty nobody else reads.
    const double ofLast = tiles > kMultiprocessors ? rounds * double(kMultiprocessors) / double(tiles) : 1;
    const double ofCaches = double(tiles * (tile.rows + tile.columns)) * kStepBytes / kBytesOfCaches,
                 ofMemory = positions * kStepBytes / kBytesOfMemory * ofLast,
                 ofSmallest =
                     tile.columns == kSmallTile && tile.rows == kSmallTile ? rounds * kMicrosecondsOfSmallest : 0;
    return std::max(*microsecondsOf(known, product_, tile),
                    stepsOf(known, product_) * std::max({ofCaches, ofMemory, ofSmallest}) + kMicrosecondsOfTile);
  }

  static double timeOfWhole(const GroupShape &known, const Product &product, const ScalarTile &tile) {
    constexpr double kReduced = 4096, kMicroseconds = 2; // of the times of tiles, and of each tile
    return codegen::timeOf(known, product, tile) * double(*known.sizeOf(product.reduced)) / kReduced + kMicroseconds;
  }

  /// What it takes for a product of known sizes, in microseconds. Clusters that do not all run at once, or have next to
  /// nothing to do, are out of the question.
  double timeOf(const GroupShape &known, const SizedKernel &kernel) const {
    const int64_t rows = *known.sizeOf(product_.rows), columns = *known.sizeOf(product_.columns);
    const int64_t reduced = *known.sizeOf(product_.reduced);
    if (!isByWarpgroups_) {
      const ScalarTile &tile = *llvm::find_if(scalarTiles(product_), [&](const ScalarTile &each) {
        return each.rows == kernel.rows && each.columns == kernel.columns;
      });
      if (kernel.deep > 1 && (reduced < kLeastReduced * kernel.deep || !areAtOnce(known, product_, tile, kernel.deep)))
        return HUGE_VAL;
      const double taken = kernel.deep > 1 ? timeInClusters(known, product_, tile, kernel.deep) * kDoubtOfOthers
                                           : timeOfWhole(known, product_, tile);
      return isForSize(known, product_, tile) ? taken : taken * kNotForSize;
    }
    const WarpgroupTile &tile = *llvm::find_if(warpgroupTiles(), [&](const WarpgroupTile &each) {
      return each.rows == kernel.rows && each.columns == kernel.columns;
    });
    const double steps = stepsOf(known, product_);
    if (kernel.deep > 1 &&
        (steps < kLeastSteps * double(kernel.deep) || !areAtOnce(known, product_, tile, kernel.deep)))
      return HUGE_VAL;
    double taken = kernel.deep > 1 ? timeInClusters(known, product_, tile, kernel.deep) * kDoubtOfWarpgroups
                                   : timeOfWhole(known, tile);
    if (product_.addsSteps() && tile.rows == kSmallTile)
      taken *= kOfAddedSteps;
    if (!hasBoxes_) {
      const int64_t blocks = *warpgroupTilesOf(known, product_, tile) * kernel.deep;
      const double ofCopies = double(llvm::divideCeil(uint64_t(blocks), uint64_t(kMultiprocessors))) * steps /
                              double(kernel.deep) * double(tile.rows + tile.columns);
      taken = shifts_ ? std::max(taken, ofCopies * kMicrosecondsOfShifted) : taken + ofCopies * kMicrosecondsOfCopied;
    }
    const bool isTooWide = columns <= tile.columns / 2 && tile.columns > kSmallTile,
               isTooHigh = rows <= kSmallTile && tile.rows > kSmallTile;
    return isTooWide || isTooHigh ? taken * kNotForSize : taken;
  }

  static constexpr int64_t kMultiprocessors = abi::kHopperMultiprocessors; // of an H100 or H200

  const GroupShape &shape_;
  const Product &product_;
  const bool isByWarpgroups_, shifts_;
  bool hasBoxes_ = true;
  SmallVector<unsigned> unknown_; // axes of the space
  std::vector<SizedKernel> kernels_;
};

} // namespace

std::vector<SizedKernel> kernelsOfUnknownSizes(const GroupShape &shape, const Product &product, RowStarts starts) {
  return UnknownSizes(shape, product, starts).run();
}

} // namespace tenon::compiler::codegen
