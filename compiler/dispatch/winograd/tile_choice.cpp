// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/winograd/tile_choice.h"

#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace tenon::compiler::dispatch {
namespace {

constexpr int64_t kSides[] = {4, 6};

// Of an H200, for each microsecond.
constexpr double kOperations = 46e6, kBytes = 3.3e6;
// Of a kernel more, in microseconds.
constexpr double kLaunch = 3.0;
// Tiles of the products: what of them lies outside of a matrix is multiplied, too.
constexpr int64_t kProductTile = 64, kProductStep = 8;
// What is saved for certain, of the time of the direct kernel.
constexpr double kSaved = 0.1;
// Side 4 is more exact.
constexpr double kMoreExact = 1.05;

std::optional<TileMatrices> matricesOf(const WindowLayer &layer, int64_t side) {
  const int64_t other = side - layer.window + 1;
  if (other < 2 || !is_contained(kSides, side))
    return std::nullopt;
  return layer.isOfFilters ? TileMatrices::of(layer.window, other) : TileMatrices::of(other, layer.window);
}

double rounded(int64_t size, int64_t to) {
  return double(alignTo(uint64_t(size), uint64_t(to)));
}

} // namespace

double directTime(const WindowLayer &layer) {
  return layer.operations() / kOperations + kLaunch;
}

double timeInTiles(const WindowLayer &layer, const TileMatrices &matrices) {
  const int64_t step = layer.isOfFilters ? matrices.taps : matrices.results,
                tiles = layer.images * int64_t(divideCeil(layer.places[0], step)) *
                        int64_t(divideCeil(layer.places[1], step));
  const double planes = double(matrices.side * matrices.side), window = double(layer.window * layer.window);
  const double image = double(layer.images) * double(layer.places[0] * layer.places[1]);
  const double channels = double(layer.channels), filters = double(layer.filters);
  // What is read and written in front of the products and behind them, and by these.
  const double elements = image * (channels + filters) + window * channels * filters +
                          2 * planes * (double(tiles) * (channels + filters) + channels * filters);
  const double rows = rounded(layer.isOfFilters ? layer.channels : tiles, kProductTile),
               columns = rounded(layer.filters, kProductTile),
               terms = rounded(layer.isOfFilters ? tiles : layer.channels, kProductStep);
  return 2 * planes * rows * columns * terms / kOperations + 4 * elements / kBytes + 4 * kLaunch;
}

std::optional<TileMatrices> tilesOf(const WindowLayer &layer, std::optional<int64_t> side) {
  if (side)
    return matricesOf(layer, *side);
  std::optional<TileMatrices> best;
  double least = (1 - kSaved) * directTime(layer);
  for (int64_t each : kSides) {
    const std::optional<TileMatrices> matrices = matricesOf(layer, each);
    const double time = matrices ? timeInTiles(layer, *matrices) * (best ? kMoreExact : 1) : least;
    if (time < least) {
      least = time;
      best = matrices;
    }
  }
  return best;
}

} // namespace tenon::compiler::dispatch
