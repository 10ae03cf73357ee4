// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/grouped/bands/band_form.h"

#include "abi/arch_table.h"
#include "compiler/codegen/grouped/filter_operands.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr int64_t kLeastWindow = 2, kMostWindow = 256;
// What all targets' blocks may have, and periods that are on their way; registers of sums, bands and rows.
constexpr int64_t kMostSharedBytes = 64 << 10, kMostStages = 4, kLeastStages = 2, kMostRegisters = 190;
// Of an unknown number of images, what tiles are chosen for.
constexpr int64_t kAssumedImages = 32;
// Of a place whose results are computed, beside one that is read.
constexpr int64_t kLanes = 3;
// Blocks that a large device has at once.
constexpr int64_t kMultiprocessors = abi::kHopperMultiprocessors, kBlocksAtOnce = kMultiprocessors * kBandBlocks;

} // namespace

std::optional<BandForm> BandForm::of(const KernelFunction &kernel, const GroupShape &shape) {
  std::optional<ImageProduct<dispatch::ChannelWindows>> found =
      ImageProduct<dispatch::ChannelWindows>::of(kernel, shape);
  if (!found)
    return std::nullopt;
  const int64_t channels = found->sizes[found->loops.channel];
  if (found->image.shape.back().size != channels || channels % 8 != 0)
    return std::nullopt;
  BandForm form{std::move(found->loops), std::move(found->product), found->image, std::move(found->sizes)};
  for (auto [dimension, loop] : llvm::enumerate(form.loops.outer)) // images one behind the other, whole ones
    if (const Extent &extent = form.image.shape[dimension];
        ShapedType::isDynamic(form.sizes[loop]) ? !extent.value : extent.value || extent.size != form.sizes[loop])
      return std::nullopt;
  const int64_t window = form.down().window * form.along().window;
  if (window < kLeastWindow || window > kMostWindow)
    return std::nullopt;
  // Channels are an axis of their own.
  const unsigned axis = form.product.batch.front();
  if (form.product.batch.size() != 1 || shape.axes[axis].axes.size() != 1)
    return std::nullopt;
  return form;
}

static BandForm::Slide slideOf(const BandForm &form, const dispatch::ChannelWindows::Place &place, int64_t size) {
  BandForm::Slide slide{form.sizes[place.loop], 1, place.step, place.apart, place.offset, size};
  if (place.window)
    slide.window = form.sizes[*place.window];
  return slide;
}

BandForm::Slide BandForm::down() const {
  return loops.down ? slideOf(*this, *loops.down, image.shape[image.shape.size() - 3].size) : Slide{};
}

BandForm::Slide BandForm::along() const {
  return slideOf(*this, loops.along, image.shape[image.shape.size() - 2].size);
}

int64_t BandForm::images() const {
  int64_t count = 1;
  for (unsigned loop : loops.outer)
    count *= ShapedType::isDynamic(sizes[loop]) ? kAssumedImages : sizes[loop];
  return count;
}

bool BandForm::knowsImages() const {
  return llvm::none_of(loops.outer, [&](unsigned loop) { return ShapedType::isDynamic(sizes[loop]); });
}

int64_t BandTile::tilesOf(const BandForm &form) const {
  return int64_t(llvm::divideCeil(form.images(), images)) *
         int64_t(llvm::divideCeil(form.along().results, across() * kWide));
}

BandGeometry::BandGeometry(const BandForm &form, BandTile chosen) : tile(chosen) {
  const BandForm::Slide down = form.down(), along = form.along();
  groups = int64_t(llvm::divideCeil(along.spanOf(BandTile::kWide), 4));
  places = (tile.across() - 1) * BandTile::kWide * along.step + 4 * groups;
  window = down.window, step = down.step, apart = down.apart, offset = down.offset;
  newRows = BandTile::kLines * step;
  // Where periods begin decides how many a tile has beside those with results.
  BandGeometry best = *this;
  best.placePeriods(0);
  for (int64_t more = 1; more < newRows; ++more) {
    BandGeometry other = *this;
    other.placePeriods(more);
    if (other.beginsOutside() && other.before() - other.skipped < best.before() - best.skipped)
      best = other;
  }
  *this = best;
  pairs = int64_t(llvm::divideCeil(down.results, BandTile::kLines));
  // Vectors of neighbouring places, and sums of them, lie in different banks.
  pitch = tile.channels() * 2 + 16;
  rowBytes = tile.images * places * pitch;
  sumPitch = BandTile::kLines * tile.channels() + 4;
  sumBytes = BandTile::kPlaces * sumPitch * int64_t(sizeof(float));
  stages = std::min(kMostStages, (kMostSharedBytes - 2 * sumBytes) / periodBytes());
}

void BandGeometry::placePeriods(int64_t before) {
  shift = before;
  int64_t met = 0; // rows of a period
  for (int64_t place = 0; place < window; ++place)
    met = std::max(met, rowOf(place) + step + 1);
  keptRows = std::max<int64_t>(met - newRows, 0);
  delay = ageOf(window - 1);
  // The first one whose last row lies in the image; one that has results is none of those before.
  const int64_t outside = shift - offset - keptRows - newRows + 1;
  skipped = outside > 0 ? std::min(int64_t(llvm::divideCeil(outside, newRows)), delay) : 0;
  if (!beginsOutside())
    skipped = 0;
}

int64_t BandGeometry::registers() const {
  const int64_t words = tile.vector / 2 * groups; // of a row of the image, and of the window
  return (delay + 1) * BandTile::kLines * tile.vector + window * words + (newRows + keptRows) * words;
}

int64_t pairsOfBlock(const BandForm &form, const BandTile &tile) {
  const BandGeometry geometry(form, tile);
  const int64_t all = tile.tilesOf(form) * geometry.pairs, chunks = tile.chunksOf(form);
  int64_t best = 0, least = 0;
  for (int64_t blocks = 1; blocks <= std::clamp<int64_t>(kBlocksAtOnce / chunks, 1, all); ++blocks) {
    const auto each = int64_t(llvm::divideCeil(all, blocks));
    // Each part of a tile begins with periods that have no results.
    const bool isWhole = geometry.pairs % each == 0 || each % geometry.pairs == 0;
    const int64_t parts = isWhole ? int64_t(llvm::divideCeil(each, geometry.pairs)) : (each - 2) / geometry.pairs + 2;
    const int64_t periods = each + parts * (geometry.before() - geometry.skipped) +
                            (isWhole ? 0 : geometry.moreBefore() + geometry.skipped);
    // Blocks of a multiprocessor take turns; one alone waits as long.
    const auto turns = int64_t(llvm::divideCeil(blocks * chunks, kMultiprocessors));
    const int64_t cost = periods * std::max(turns, kBandBlocks);
    if (best == 0 || cost < least)
      best = each, least = cost;
  }
  return best;
}

int64_t blocksOf(const BandForm &form, const BandTile &tile) {
  if (!form.knowsImages())
    return tile.chunksOf(form) * std::max<int64_t>(kBlocksAtOnce / tile.chunksOf(form), 1);
  const int64_t all = tile.tilesOf(form) * BandGeometry(form, tile).pairs;
  return tile.chunksOf(form) * int64_t(llvm::divideCeil(all, pairsOfBlock(form, tile)));
}

bool isWorthBands(const BandForm &form) {
  // Measured on an H200: windows of 5 x 5 and 7 x 7 are where two of three results that are computed are wanted. Images
  // of 14 x 14 places and windows of 7 x 7 have fewer, and so have those of 7 x 7: lines of a period and lanes that are
  // none, and periods until the first lines have been reached. With steps lanes read places that lie in the same banks.
  constexpr int64_t kLeastWorth = 25;
  constexpr double kLeastWanted = 2.0 / 3;
  const std::optional<BandTile> tile = BandTile::of(form);
  if (!tile || form.down().window * form.along().window < kLeastWorth || form.down().step != 1 ||
      form.along().step != 1)
    return false;
  const BandGeometry geometry(form, *tile);
  const auto wanted = double(form.images() * form.down().results * form.along().results);
  const auto computed =
      double(tile->tilesOf(form) * (geometry.pairs + geometry.before()) * BandTile::kLines * BandTile::kPlaces);
  return wanted >= kLeastWanted * computed;
}

std::optional<BandTile> BandTile::of(const BandForm &form) {
  // What lies behind an image's first element has 32 bits.
  int64_t elements = 1;
  for (const Extent &extent : llvm::ArrayRef(form.image.shape).take_back(form.loops.down ? 3 : 2))
    elements *= extent.size;
  if (elements > std::numeric_limits<int32_t>::max() / kPieces / 2)
    return std::nullopt;
  std::optional<BandTile> best;
  int64_t least = 0;
  for (int64_t vector : {8, 4}) {
    BandTile tile;
    tile.vector = vector;
    for (; tile.images <= kPieces; tile.images *= 2) {
      const BandGeometry geometry(form, tile);
      if (geometry.registers() > kMostRegisters || geometry.stages < kLeastStages)
        continue;
      // What a line costs that is summed and stored, and what it reads, which tiles beside each other read, too.
      const int64_t cost = tile.tilesOf(form) * (kLanes * kPlaces + tile.images * geometry.places * form.down().step);
      if (!best || cost < least)
        best = tile, least = cost;
    }
    if (best)
      break;
  }
  return best;
}

} // namespace tenon::compiler::codegen
