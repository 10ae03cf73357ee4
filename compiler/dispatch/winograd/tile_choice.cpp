// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/winograd/tile_choice.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace llvm;

namespace tenon::compiler::dispatch {
namespace {

/// More exact ones first. Of windows of 3 x 3 tiles of side 8 would save a fifth of the multiplications, and their
/// bound grows by 509.
ArrayRef<int64_t> sidesOf(const WindowLayer &layer) {
  static constexpr int64_t kOfThree[] = {4, 6}, kOfFive[] = {6, 8};
  return layer.window == 3 ? ArrayRef(kOfThree) : ArrayRef(kOfFive);
}

// Of an H200, for each microsecond.
constexpr double kOperations = 46e6, kBytes = 3.3e6;
// Of a kernel more, in microseconds.
constexpr double kLaunch = 3.0;
// Of a direct kernel more, which has too few tiles where it is small: 100 of them took 5 to 280 longer than the
// multiplications, small ones 23 and more.
constexpr double kDirect = 12.0;
// Tiles of the products: what of them lies outside of a matrix is multiplied, too.
constexpr int64_t kProductTile = 64, kProductStep = 8, kDirectTile = 32;
// That planes may take, where the program does not say that there are some.
constexpr double kMostBytes = double(int64_t(4) << 30);
// What is saved for certain, of the time of the direct kernel.
constexpr double kSaved = 0.1;
// Smaller ones are more exact.
constexpr double kMoreExact = 1.05;

std::optional<TileMatrices> matricesOf(const WindowLayer &layer, int64_t side) {
  const int64_t other = side - layer.window + 1;
  if (!is_contained(sidesOf(layer), side))
    return std::nullopt;
  return layer.isOfFilters ? TileMatrices::of(layer.window, other) : TileMatrices::of(other, layer.window);
}

double rounded(int64_t size, int64_t to) {
  return double(alignTo(uint64_t(size), uint64_t(to)));
}

int64_t tilesOfImages(const WindowLayer &layer, const TileMatrices &matrices) {
  const int64_t step = layer.isOfFilters ? matrices.taps : matrices.results;
  return layer.images * int64_t(divideCeil(layer.places[0], step)) * int64_t(divideCeil(layer.places[1], step));
}

} // namespace

int64_t partsOfSum(const WindowLayer &layer, const TileMatrices &matrices) {
  constexpr int64_t kRows = 128, kColumns = 64, kMost = 4, kLeastTerms = 128;
  constexpr double kMultiprocessors = 132, kGain = 0.95;
  const int64_t tiles = tilesOfImages(layer, matrices), planes = matrices.side * matrices.side;
  const double blocks = double(planes) * double(divideCeil(layer.channels, kRows)) *
                        double(divideCeil(layer.filters, kColumns)),
               sums = double(planes) * double(layer.channels) * double(layer.filters);
  if (blocks <= kMultiprocessors) // a sum is taken by several blocks that share it
    return 1;
  int64_t best = 1;
  double least = 0;
  for (int64_t parts = 1; parts <= kMost; ++parts) {
    if (tiles % parts != 0 || (parts > 1 && tiles / parts < kLeastTerms))
      continue;
    const double rounds =
        std::ceil(blocks * double(parts) / kMultiprocessors) * kMultiprocessors / (blocks * double(parts));
    const double time = 2 * sums * double(tiles) / kOperations * rounds + 8 * sums * double(parts) / kBytes;
    if (parts == 1 || time < kGain * least) {
      best = parts;
      least = time;
    }
  }
  return best;
}

double bytesOfPlanes(const WindowLayer &layer, const TileMatrices &matrices) {
  const double tiles = double(tilesOfImages(layer, matrices)), channels = double(layer.channels),
               filters = double(layer.filters);
  return 4 * double(matrices.side * matrices.side) * (tiles * (channels + filters) + channels * filters);
}

bool areChannelsLast(const WindowLayer &layer, const TileMatrices &matrices) {
  constexpr double kFasterProduct = 0.1, kSlowerTransforms = 0.25;
  const double planes = double(matrices.side * matrices.side), tiles = double(tilesOfImages(layer, matrices)),
               channels = double(layer.channels), filters = double(layer.filters);
  const double image = double(layer.images) * double(layer.places[0] * layer.places[1]);
  return kFasterProduct * 2 * planes * tiles * channels * filters / kOperations >
         kSlowerTransforms * 4 * (image + planes * tiles) * (channels + filters) / kBytes;
}

double directTime(const WindowLayer &layer) {
  const double places = double(layer.images) * double(layer.places[0]) * double(layer.places[1]),
               filters = rounded(layer.filters, kDirectTile);
  const int64_t window = layer.window * layer.window * layer.channels;
  return 2 * places * filters * (layer.isOfFilters ? rounded(window, kDirectTile) : double(window)) / kOperations +
         kDirect;
}

double timeInTiles(const WindowLayer &layer, const TileMatrices &matrices) {
  const int64_t tiles = tilesOfImages(layer, matrices);
  const double planes = double(matrices.side * matrices.side), window = double(layer.window * layer.window);
  const double image = double(layer.images) * double(layer.places[0] * layer.places[1]);
  const double channels = double(layer.channels), filters = double(layer.filters);
  // What is read and written in front of the products and behind them, and by these.
  const double bytes =
      4 * (image * (channels + filters) + window * channels * filters) + 2 * bytesOfPlanes(layer, matrices);
  const double rows = rounded(layer.isOfFilters ? layer.channels : tiles, kProductTile),
               columns = rounded(layer.filters, kProductTile),
               terms = rounded(layer.isOfFilters ? tiles : layer.channels, kProductStep);
  return 2 * planes * rows * columns * terms / kOperations + bytes / kBytes + 4 * kLaunch;
}

std::optional<TileMatrices> tilesOf(const WindowLayer &layer, std::optional<int64_t> side) {
  if (side)
    return matricesOf(layer, *side);
  std::optional<TileMatrices> best;
  double least = (1 - kSaved) * directTime(layer);
  for (int64_t each : sidesOf(layer)) {
    const std::optional<TileMatrices> matrices = matricesOf(layer, each);
    if (matrices && bytesOfPlanes(layer, *matrices) > kMostBytes)
      continue;
    const double time = matrices ? timeInTiles(layer, *matrices) * (best ? kMoreExact : 1) : least;
    if (time < least) {
      least = time;
      best = matrices;
    }
  }
  return best;
}

} // namespace tenon::compiler::dispatch
