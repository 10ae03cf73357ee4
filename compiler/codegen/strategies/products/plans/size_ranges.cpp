// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/products/plans/size_ranges.h"

#include "compiler/codegen/contraction/patches.h"
#include "compiler/codegen/strategies/products/plans/tiles/scalar_tiles.h"

#include <cmath>
#include <set>

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Of plain rows or columns, what tiles are chosen for, and up to how many each is taken; the last has all others.
constexpr int64_t kAssumed[] = {512, 2048, 8192, 32768}, kMostOfAssumed[] = {512, 2048, 8192};
// Of images, the numbers that kernels are weighed for; a kernel more is worth what it gains, added up over these in
// parts of the least time.
constexpr int64_t kImages[] = {1,  2,  3,  4,  5,  6,   8,   10,  12,  16,  20,  24,  32,
                               40, 48, 64, 80, 96, 128, 160, 200, 256, 320, 512, 1024};
constexpr size_t kCounts = std::size(kImages), kMostKernels = 5;
constexpr double kOfPower = 2; // powers of two count so often
constexpr double kLeastGain = 0.6;
// A row of a box that is not there: the copy writes zeros.
constexpr double kMicrosecondsOutside = 0.005;

/// The shape with so many positions on the axis of unknown size.
GroupShape withPositions(GroupShape shape, ArrayRef<unsigned> side, int64_t positions) {
  for (unsigned axis : side)
    if (std::optional<int64_t> &size = shape.axes[axis].size; !size)
      size = positions;
  return shape;
}

/// Results of the side for each position on that axis.
int64_t resultsOfOne(const GroupShape &shape, ArrayRef<unsigned> side) {
  return std::max<int64_t>(1, *withPositions(shape, side, 1).sizeOf(side));
}

std::vector<SizeRange> plainRanges(const GroupShape &shape, const Product &product, ArrayRef<unsigned> side) {
  std::vector<SizeRange> ranges;
  for (auto [number, size] : llvm::enumerate(kAssumed)) {
    const auto positions = int64_t(llvm::divideCeil(uint64_t(size), uint64_t(resultsOfOne(shape, side))));
    SizeRange range;
    if (const WarpgroupTile *tile = bestWarpgroupTile(withPositions(shape, side, positions), product, INT64_MAX))
      range = {tile->rows, tile->columns, 0, {}};
    if (number < std::size(kMostOfAssumed))
      range.most = kMostOfAssumed[number];
    ranges.push_back(range);
  }
  return ranges;
}

/// Kernels for any number of images, and what each takes for each of kImages.
class ImageRanges {
public:
  /// @param timeOf so many images
  void add(const SizeRange &range, llvm::function_ref<double(int64_t)> timeOf) {
    Kernel kernel{range, {}};
    for (auto [count, time] : llvm::zip_equal(kImages, kernel.times))
      time = timeOf(count);
    kernels_.push_back(kernel);
  }
  bool empty() const { return kernels_.empty(); }

  /// The ranges that take the least time together.
  /// @param each results of an image
  std::vector<SizeRange> best(int64_t each) {
    toPartsOfLeast();
    // Of the first `end` numbers of images, in so many ranges: the least time, and the last range.
    struct Best {
      double time = HUGE_VAL;
      size_t begin = 0;
      const Kernel *kernel = nullptr;
    };
    Best best[kMostKernels + 1][kCounts + 1];
    best[0][0].time = 0;
    for (size_t ranges = 1; ranges <= kMostKernels; ++ranges)
      for (size_t end = 1; end <= kCounts; ++end)
        for (const Kernel &kernel : kernels_) {
          double time = kLeastGain;
          for (size_t begin = end; begin-- > 0;) {
            time += kernel.times[begin];
            if (const double all = best[ranges - 1][begin].time + time; all < best[ranges][end].time)
              best[ranges][end] = {all, begin, &kernel};
          }
        }
    size_t count = 1;
    for (size_t ranges = 2; ranges <= kMostKernels; ++ranges)
      if (best[ranges][kCounts].time < best[count][kCounts].time)
        count = ranges;
    std::vector<SizeRange> found(count);
    for (size_t end = kCounts; count > 0; --count) {
      const Best &last = best[count][end];
      found[count - 1] = last.kernel->range;
      if (end != kCounts)
        found[count - 1].most = kImages[end - 1] * each;
      end = last.begin;
    }
    return found;
  }

private:
  struct Kernel {
    SizeRange range; // of no end
    std::array<double, kCounts> times;
  };

  void toPartsOfLeast() {
    for (size_t count = 0; count < kCounts; ++count) {
      double least = HUGE_VAL;
      for (const Kernel &kernel : kernels_)
        least = std::min(least, kernel.times[count]);
      for (Kernel &kernel : kernels_)
        kernel.times[count] *= (llvm::isPowerOf2_64(uint64_t(kImages[count])) ? kOfPower : 1) / least;
    }
  }

  std::vector<Kernel> kernels_;
};

/// In microseconds, with what boxes have behind the ends of the image: of these, some patches have more than others.
double timeOfPatches(const GroupShape &shape, Product product, const WarpgroupTile &tile, int64_t images) {
  product.imagesOfPatch = images;
  SmallVector<int64_t> sizes;
  for (unsigned axis : product.rows)
    sizes.push_back(*shape.axes[axis].size);
  const double numbers = double(patchesOfRows(shape, product, tile.rows).count(sizes)),
               outside = 1 - double(*shape.sizeOf(product.rows)) / numbers;
  const double whole = *microsecondsOf(shape, product, tile), ofStep = tile.ofPatches;
  return whole * (1 + outside * double(tile.rows) * kMicrosecondsOutside / ofStep);
}

/// Of patches, each tile that is the best for some number of images, with the patches that are the best for that.
std::vector<SizeRange> patchRanges(const GroupShape &shape, const Product &product) {
  ImageRanges ranges;
  std::set<std::pair<int64_t, SmallVector<int64_t>>> seen; // columns, and sides of a patch
  auto known = [&](int64_t images) { return withPositions(shape, product.rows, images); };
  for (int64_t images : kImages) {
    const WarpgroupTile *tile = bestWarpgroupTile(known(images), product, INT64_MAX);
    const Patches patches = tile ? patchesOfRows(known(images), product, tile->rows) : Patches();
    if (!patches || !seen.insert({tile->columns, patches.sides}).second)
      continue;
    ranges.add({tile->rows, tile->columns, patches.sides.front(), {}},
               [&](int64_t count) { return timeOfPatches(known(count), product, *tile, patches.sides.front()); });
  }
  return ranges.empty() ? std::vector<SizeRange>() : ranges.best(resultsOfOne(shape, product.rows));
}

} // namespace

ArrayRef<unsigned> unknownSideOf(const GroupShape &shape, const Product &product) {
  const bool areRows = !shape.sizeOf(product.rows);
  const ArrayRef<unsigned> side = areRows ? product.rows : product.columns,
                           other = areRows ? product.columns : product.rows;
  const auto unknown = llvm::count_if(side, [&](unsigned axis) { return !shape.axes[axis].size; });
  const bool isKnown = shape.sizeOf(product.batch) && shape.sizeOf(other) && shape.sizeOf(product.reduced);
  return unknown == 1 && isKnown ? side : ArrayRef<unsigned>();
}

std::vector<SizeRange> sizeRangesOf(const GroupShape &shape, const Product &product, ArrayRef<unsigned> side) {
  const Product read = product.forWarpgroups();
  const bool hasResults = *withPositions(shape, side, 1).sizeOf(side) != 0; // else no time is known of any tile
  if (hasResults && side == ArrayRef(read.rows) && patchesOfRows(shape, read, kLargeTile))
    if (std::vector<SizeRange> ranges = patchRanges(shape, read); !ranges.empty())
      return ranges;
  return plainRanges(shape, product, side);
}

std::vector<SizeRange> scalarRangesOf(const GroupShape &shape, const Product &product) {
  ImageRanges ranges;
  for (const ScalarTile &tile : scalarTiles(product))
    ranges.add({tile.rows, tile.columns, 0, {}},
               [&](int64_t count) { return timeOf(withPositions(shape, product.rows, count), product, tile); });
  return ranges.best(resultsOfOne(shape, product.rows));
}

} // namespace tenon::compiler::codegen
