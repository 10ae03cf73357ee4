// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/grouped/band_form.h"

#include "compiler/codegen/grouped/filter_operands.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr int64_t kLeastWindow = 2, kMostWindow = 256;
// What all targets' blocks may have; registers for bands, in words, and for what is on its way.
constexpr int64_t kMostSharedBytes = 64 << 10, kMostBandWords = 48, kMostRounds = 4, kMostFragments = 8;
// Blocks that a large device has at once.
constexpr int64_t kBlocksAtOnce = 132 * kBandBlocks, kMultiprocessors = 132;
// Of shared memory; elements that a row may have behind its last.
constexpr int64_t kBanks = 32, kMostPadding = 32;
// A model of instructions of a warp: a pair of places of eight channels, eight results, what is read and multiplied in
// a step, what a product has around it, a patch, and a word of a band.
constexpr double kBring = 50, kStore = 45, kRead = 6, kMultiply = 2, kProduct = 10, kPatch = 150, kBandWord = 12;

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
    if (form.image.shape[dimension].size != form.sizes[loop])
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
    count *= sizes[loop];
  return count;
}

int64_t BandTile::patchesOf(const BandForm &form) const {
  return int64_t(llvm::divideCeil(form.images(), images)) *
         int64_t(llvm::divideCeil(form.down().results, lines * high)) *
         int64_t(llvm::divideCeil(form.along().results, across * wide));
}

BandGeometry::BandGeometry(const BandForm &form, BandTile chosen) : tile(chosen) {
  const BandForm::Slide down = form.down(), along = form.along();
  unitRows = down.spanOf(tile.high);
  unitsOfRow = int64_t(llvm::divideCeil(along.spanOf(tile.wide), 8));
  units = unitRows * unitsOfRow;
  steps = int64_t(llvm::divideCeil(units, 2));
  rows = (tile.lines - 1) * tile.high * down.step + unitRows;
  places = (tile.across - 1) * tile.wide * along.step + 8 * unitsOfRow;
  lineStep = tile.high * down.step, pieceStep = tile.wide * along.step;
  patchUnits = rows * unitsOfRow;
  if (lineStep * unitsOfRow % 2 == 0)
    stepsToNext = lineStep * unitsOfRow / 2;
  // A row of all pieces' results is behind the other. Lanes store four pairs of columns of eight pieces each.
  sumPitch = tile.channels() + 1;
  const int64_t ofRow = tile.lines * tile.ofLine() * tile.wide;
  auto atLeast = [](int64_t least, int64_t rest) { return least + ((rest - least) % kBanks + kBanks) % kBanks; };
  oddRow = tile.wide == 1 ? ofRow : atLeast(ofRow, 1);
  rowPair = atLeast(oddRow + ofRow, tile.wide == 1 ? 8 : 16);
  const int64_t last = (tile.high - 1) / 2 * rowPair + (tile.high - 1) % 2 * oddRow;
  sumBytes = (last + ofRow) * sumPitch * int64_t(sizeof(float));
  setPitch(places);
}

void BandGeometry::padRows() {
  // Words that the lanes of a warp read at once lie in different banks, as far as that goes.
  int64_t best = pitch, fewest = passes();
  for (int64_t more = 2; more <= kMostPadding; more += 2) {
    setPitch(places + more);
    if (const int64_t count = passes(); count < fewest && sharedBytes() <= kMostSharedBytes) {
      fewest = count;
      best = pitch;
    }
  }
  setPitch(best);
}

void BandGeometry::setPitch(int64_t elements) {
  pitch = elements;
  imagePitch = rows * pitch;
  plane = tile.images * imagePitch;
  // Lanes that store neighbouring places of two vectors of channels: words of different banks.
  plane += (12 - plane % 8) % 8;
  patchBytes = int64_t(llvm::alignTo(tile.channels() * plane * 2, 16));
}

int64_t BandGeometry::pieceAt(int64_t piece) const {
  return piece / tile.across * imagePitch + piece % tile.across * pieceStep;
}

/// How often shared memory is asked for a unit of a line's pieces: different words of a bank come one after the other.
int64_t BandGeometry::passes() const {
  int64_t count = 0;
  for (int64_t first = 0; first < tile.inLine(); first += BandTile::kRows / 2) {
    std::array<llvm::SmallSet<int64_t, 4>, kBanks> banks;
    size_t most = 0;
    for (int64_t lane = 0; lane < 32; ++lane) {
      const int64_t word = pieceAt(std::min(first + lane / 4, tile.inLine() - 1)) / 2 + lane % 4;
      banks[size_t(word % kBanks)].insert(word);
      most = std::max<size_t>(most, banks[size_t(word % kBanks)].size());
    }
    count += int64_t(most);
  }
  return count;
}

int64_t patchesOfBlock(const BandForm &form, const BandTile &tile) {
  const int64_t chunks = tile.chunksOf(form), patches = tile.patchesOf(form);
  return int64_t(llvm::divideCeil(patches, std::max<int64_t>(kBlocksAtOnce / chunks, 1)));
}

int64_t blocksOf(const BandForm &form, const BandTile &tile) {
  return tile.chunksOf(form) * int64_t(llvm::divideCeil(tile.patchesOf(form), patchesOfBlock(form, tile)));
}

bool isWorthBands(const BandForm &form) {
  // Measured on an H100: 7 x 7 windows of 56 x 56 places, 5 x 5 of 28 x 28 are; of 14 x 14 places, with fewer patches,
  // and with steps of two they are not.
  constexpr int64_t kLeastWorth = 25, kLeastPatches = 4;
  constexpr double kMostWaste = 2; // products that are computed for each that is wanted
  const int64_t window = form.down().window * form.along().window;
  if (window < kLeastWorth || form.down().step != 1 || form.along().step != 1)
    return false;
  const std::optional<BandTile> tile = BandTile::of(form);
  return tile && double(BandGeometry(form, *tile).steps * BandTile::kRows) <= kMostWaste * double(window) &&
         patchesOfBlock(form, *tile) >= kLeastPatches;
}

std::optional<BandTile> BandTile::of(const BandForm &form) {
  const BandForm::Slide down = form.down(), along = form.along();
  std::optional<BandTile> best;
  double least = 0;
  auto tryTile = [&](const BandTile &tile) {
    const BandGeometry geometry(form, tile);
    if (geometry.sharedBytes() > kMostSharedBytes || geometry.rounds() > kMostRounds ||
        2 * geometry.steps * tile.perWarp > kMostBandWords)
      return;
    const double results = double(tile.images * std::min(tile.lines * tile.high, down.results) *
                                  std::min(tile.across * tile.wide, along.results));
    const double vectors = double(tile.channels()) / 8 / 32;
    const int64_t read =
        geometry.stepsToNext ? int64_t(llvm::divideCeil(geometry.patchUnits, 2)) : tile.lines * geometry.steps;
    const double products =
        double(tile.channels() * tile.ofLine() / BandTile::kRows) *
        (kRead * double(read) + double(tile.lines) * (kMultiply * double(geometry.steps) + kProduct));
    const double patch =
        double(geometry.pairs()) * vectors * kBring + results * vectors * kStore + products + kPatch * kBandWarps;
    const double block =
        double(patchesOfBlock(form, tile)) * patch + kBandWord * double(2 * geometry.steps * tile.perWarp * kBandWarps);
    const double cost = double(llvm::divideCeil(blocksOf(form, tile), kMultiprocessors)) * block;
    if (!best || cost < least)
      best = tile, least = cost;
  };
  BandTile tile;
  for (int64_t wide : {1, 2, 4, 8}) {
    tile.wide = wide;
    tile.high = kColumns / wide;
    if (wide * along.step % 2 != 0 || (!form.loops.down && tile.high != 1))
      continue; // a lane's two places are one word
    const auto lines = int64_t(llvm::divideCeil(down.results, tile.high)),
               across = int64_t(llvm::divideCeil(along.results, wide));
    for (tile.lines = 1; tile.lines <= std::min(lines, kMostFragments); ++tile.lines)
      for (tile.across = 1; tile.across <= std::min(across, kMostFragments * BandTile::kRows); ++tile.across)
        for (tile.images = 1; tile.images <= std::min(form.images(), BandTile::kRows); ++tile.images)
          if (tile.fragments() <= kMostFragments)
            tryTile(tile);
  }
  return best;
}

} // namespace tenon::compiler::codegen
