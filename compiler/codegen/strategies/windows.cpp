// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/windows.h"

#include "compiler/dispatch/analysis/border.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kThreads = 256;
// Elements of a window that a thread loads before it combines them; a window of no more is straight-line code.
constexpr int64_t kInFlight = 9;
// The same of windows whose thread computes a tile of results: all that the tile combines is straight-line code.
constexpr int64_t kMostCombined = 400, kMostWindow = 49;
// Accumulators of a thread; of more results, each thread has fewer.
constexpr uint32_t kMostAccumulators = 32;
// A tile of results: lines along the axis before that, runs along the axis before the last.
struct Tile {
  int64_t lines = 1, run = 1;
  uint32_t width = 1; // lanes of each result

  int64_t size() const { return lines * run; }
};
constexpr Tile kTiles[] = {{4, 4}, {2, 4}, {1, 4}, {2, 2}, {1, 2}};
// Where windows slide along the last axis, too, as over an image whose channels come first: elements that lanes read
// lie across vectors. Threads have one lane, and more lines.
constexpr Tile kTilesOfLines[] = {{1, 8}, {1, 4}, {1, 2}};
// Results of which a thread takes half as many lanes, as it does of long windows, and more, of which it takes two: what
// it reads on its way takes the registers.
constexpr int64_t kManyResults = 8;
constexpr uint32_t kFewLanes = 2;
// The last tiles of an axis compute again what those before have: so many results in all for each that there is. Of
// large tiles less is worth it.
constexpr double kMostWaste = 1.4, kMostWasteOfLarge = 1.25;
// Threads that keep a large device busy, of tiles: each of them has many loads on their way.
constexpr int64_t kManyThreads = 40'000;

/// Tiles of results along the axes before the last.
int64_t tilesOf(const GroupShape &shape, Tile tile) {
  int64_t tiles = 1;
  for (auto [number, axis] : llvm::enumerate(shape.parallelAxes())) {
    const int64_t side = number + 2 == shape.parallel ? tile.run : number + 3 == shape.parallel ? tile.lines : 1;
    tiles *= int64_t(llvm::divideCeil(*axis.size, side));
  }
  return tiles;
}

/// Whether a thread may compute several results along the axis before the last: there is one, and sizes are known.
bool canRun(const GroupShape &shape) {
  return shape.parallel >= 2 && GroupShape::sizeOf(shape.parallelAxes()) &&
         shape.axes[shape.parallel - 2].axes.size() == 1;
}

/// The same of the axis before that: a line of results.
bool canHaveLines(const GroupShape &shape) {
  return canRun(shape) && shape.parallel >= 3 && shape.axes[shape.parallel - 3].axes.size() == 1;
}

/// How a tensor is read through windows along an axis: how far the next result's window is away, and how long it is;
/// nothing where there is none.
struct WindowAlong {
  int64_t step = 1, length = 1, apart = 1;
  /// Places that windows of so many results meet, counting each once.
  int64_t placesOf(int64_t results) const {
    llvm::SmallDenseSet<int64_t> places;
    for (int64_t result = 0; result < results; ++result)
      for (int64_t place = 0; place < length; ++place)
        places.insert(result * step + place * apart);
    return int64_t(places.size());
  }
};

std::optional<WindowAlong> windowAlong(const KernelFunction &kernel, const GroupShape &shape, unsigned axis) {
  std::optional<WindowAlong> found;
  auto look = [&](const KernelOp &op, AffineMap map) {
    linalg::GenericOp generic = op.op;
    const SmallVector<unsigned> groupAxes = shape.group.axisOf.lookup(op.op);
    const SmallVector<int64_t> sizes = generic.getStaticLoopRanges();
    for (AffineExpr expr : map.getResults()) {
      const std::optional<dispatch::LinearExpr> linear = dispatch::LinearExpr::of(expr, map.getNumDims());
      if (!linear || isa<AffineDimExpr>(expr))
        continue;
      WindowAlong window;
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
      if (const std::optional<dispatch::Border> border = dispatch::borderOf(select, generic, outside))
        look(op, border->map);
    }
  }
  return found;
}

/// Which results a thread computes together: the windows overlap, so what it reads for one it has for the next.
Tile tileFor(const KernelFunction &kernel, const GroupShape &shape, uint32_t width, size_t sums) {
  const Tile one{1, 1, width};
  const std::optional<int64_t> window = GroupShape::sizeOf(shape.reducedAxes());
  if (!canRun(shape) || !window || *window > kMostWindow || *window == 1)
    return one;
  const unsigned last = shape.parallel - 1;
  const std::optional<WindowAlong> along = windowAlong(kernel, shape, last - 1),
                                   across = canHaveLines(shape) ? windowAlong(kernel, shape, last - 2) : std::nullopt;
  if (!along)
    return one;
  const int64_t results = *GroupShape::sizeOf(shape.parallelAxes());
  for (Tile tile : width == 1 ? ArrayRef(kTilesOfLines) : ArrayRef(kTiles)) {
    if (tile.size() > kManyResults)
      tile.width = std::min(width, kFewLanes);
    else
      tile.width = tile.size() == kManyResults || *window > kInFlight ? std::max(width / 2, 1U) : width;
    if ((tile.lines > 1 && !across) || *window * tile.size() > kMostCombined ||
        tile.size() * tile.width * sums > kMostAccumulators || tilesOf(shape, tile) / tile.width < kManyThreads ||
        *shape.axes[last - 1].size < tile.run ||
        double(tilesOf(shape, tile) * tile.size()) >
            (tile.size() > kManyResults ? kMostWasteOfLarge : kMostWaste) * double(results) ||
        (tile.lines > 1 && *shape.axes[last - 2].size < tile.lines))
      continue;
    // Windows that hardly overlap are read once, in any tile.
    const int64_t separate = *window * tile.size();
    const int64_t together = *window / along->length / (across ? across->length : 1) * along->placesOf(tile.run) *
                             (across ? across->placesOf(tile.lines) : 1);
    if (together < separate)
      return tile;
  }
  return one;
}

class WindowsWriter {
public:
  explicit WindowsWriter(Writer &w)
      : w_(w), k_(w.k), bodies_(w.bodies), width_(w.choice("width")),
        tile_({sideOf(w, "lines", 3), sideOf(w, "run", 2), width_}), parallel_(w.shape.parallel),
        sums_(phasesOf(w.kernel, w.shape.group).front()) {}

  void run();

private:
  using Values = SmallVector<Value>; // [results][sums][lanes]

  /// A side of the tile as chosen, along the axis that is so many before the end; 1 where there is no such axis.
  static int64_t sideOf(Writer &w, StringRef choice, unsigned before) {
    const bool isThere = before == 2 ? canRun(w.shape) : canHaveLines(w.shape);
    return isThere && *w.shape.axes[w.shape.parallel - before].size >= w.choice(choice) ? w.choice(choice) : 1;
  }
  bool isOne() const { return tile_.size() == 1; }
  Value numbers();
  void placeResults(Value number);
  void writeFrom(Value number, unsigned width);
  Values walk();
  Values accumulate(Value first, int64_t count, ValueRange accumulators);
  void finishHere(Values &totals);
  void store(Values totals);
  void store(const Point &result, const Value *total);

  Writer &w_;
  KernelBuilder &k_;
  Bodies &bodies_;
  const uint32_t width_;
  const Tile tile_; // results of a thread, whose windows overlap
  const unsigned parallel_;
  const SmallVector<RowSum> sums_;
  unsigned lanes_ = 1;
  SmallVector<Point> results_;     // positions on the parallel axes
  Value firstAlong_, firstAcross_; // of those that this tile stores
};

/// Of results, or of tiles of them.
Value WindowsWriter::numbers() {
  if (isOne())
    return w_.space.size(0, parallel_);
  return k_.number(tilesOf(w_.shape, tile_));
}

void WindowsWriter::placeResults(Value number) {
  Point first;
  first.index.resize(w_.shape.axes.size(), k_.number(0));
  results_.assign(tile_.size(), first);
  if (isOne()) {
    w_.space.place(results_[0], 0, parallel_, number);
    results_[0].id = w_.space.newId();
    return;
  }
  const unsigned last = parallel_ - 1;
  Value rest = k_.div(number, w_.space.size(last)), inLast = k_.rem(number, w_.space.size(last));
  // The places of a tile along an axis. The last tile ends where the axis does, and begins in the one before: all of
  // its places are side by side, and what is there twice is stored by the other.
  auto placesAlong = [&](unsigned axis, int64_t side, Value &first) {
    const int64_t length = *w_.shape.axes[axis].size;
    Value tiles = k_.number(llvm::divideCeil(length, side));
    first = k_.mul(k_.rem(rest, tiles), k_.number(side));
    rest = k_.div(rest, tiles);
    Value begin = length % side == 0 ? first : k_.min(first, k_.number(length - side));
    SmallVector<Value> places;
    for (int64_t i = 0; i < side; ++i)
      places.push_back(k_.add(begin, k_.number(i)));
    return places;
  };
  const SmallVector<Value> along = placesAlong(last - 1, tile_.run, firstAlong_);
  const SmallVector<Value> across =
      tile_.lines > 1 ? placesAlong(last - 2, tile_.lines, firstAcross_) : SmallVector<Value>();
  const unsigned outer = tile_.lines > 1 ? last - 2 : last - 1;
  for (auto [i, result] : llvm::enumerate(results_)) {
    if (outer > 0)
      w_.space.place(result, 0, outer, rest);
    if (tile_.lines > 1)
      result.index[last - 2] = across[i / tile_.run];
    result.index[last - 1] = along[i % tile_.run];
    result.index[last] = inLast;
    result.id = w_.space.newId();
  }
}

void WindowsWriter::run() {
  w_.space.vectorAxis = parallel_ == 0 ? 0 : parallel_ - 1;
  Value results = numbers();
  Value first = k_.mul(k_.block(), k_.number(int64_t(k_.threads) * width_));
  // Neighbouring threads have neighbouring results.
  auto apart = [&] {
    Value end = k_.min(k_.add(first, k_.number(int64_t(k_.threads) * width_)), results);
    k_.loop(k_.add(first, k_.thread()), end, k_.number(k_.threads), {}, [&](Value result, ValueRange) {
      writeFrom(result, 1);
      return Values();
    });
  };
  if (width_ == 1)
    return apart();
  auto wide = [&] {
    Value result = k_.add(first, k_.mul(k_.thread(), k_.number(width_)));
    k_.when(k_.less(result, results), [&] { writeFrom(result, width_); });
  };
  k_.branch(bodies_.isAligned(width_, /*needsWhole=*/true), wide, apart);
}

void WindowsWriter::writeFrom(Value number, unsigned width) {
  Bodies::Scope scope(bodies_);
  lanes_ = width;
  bodies_.setWidth(width);
  placeResults(number);
  store(walk());
}

WindowsWriter::Values WindowsWriter::accumulate(Value first, int64_t count, ValueRange accumulators) {
  Bodies::Scope scope(bodies_);
  SmallVector<Point> points; // [results][count]
  for (const Point &result : results_)
    for (int64_t i = 0; i < count; ++i) {
      Point &point = points.emplace_back(result);
      w_.space.place(point, parallel_, w_.shape.axes.size(), k_.add(first, k_.number(i)));
      point.id = w_.space.newId();
    }
  // All loads first; what is computed from them is remembered.
  SmallVector<Values> contributed;
  for (const Point &point : points) {
    Values &values = contributed.emplace_back();
    for (const RowSum &sum : sums_)
      for (unsigned lane = 0; lane < lanes_; ++lane)
        values.push_back(bodies_.contribution(sum, point, lane));
  }
  Values next = llvm::to_vector(accumulators);
  for (auto [point, values] : llvm::enumerate(contributed)) {
    Value *ofResult = next.begin() + point / count * values.size();
    for (auto [i, value] : llvm::enumerate(values))
      ofResult[i] = combine(k_, sums_[i / lanes_].sum, ofResult[i], value);
  }
  return next;
}

/// The elements of a window in order, several at a time, then the rest one by one.
WindowsWriter::Values WindowsWriter::walk() {
  Values accumulators;
  for (int64_t result = 0; result < tile_.size(); ++result)
    for (const RowSum &sum : sums_)
      accumulators.append(lanes_, bodies_.begin(sum));
  const std::optional<int64_t> known = GroupShape::sizeOf(w_.shape.reducedAxes());
  if (known && *known <= kInFlight)
    return accumulate(k_.number(0), *known, accumulators);
  if (known && !isOne()) {
    // Row by row of the window, or so: registers do not hold all of it.
    const int64_t row = std::min(*w_.shape.reducedAxes().back().size, kInFlight);
    for (int64_t first = 0; first < *known; first += row)
      accumulators = accumulate(k_.number(first), std::min(row, *known - first), accumulators);
    return accumulators;
  }
  Value elements = w_.space.size(parallel_, w_.shape.axes.size());
  Value whole = k_.mul(k_.div(elements, k_.number(kInFlight)), k_.number(kInFlight));
  accumulators = k_.loop(k_.number(0), whole, k_.number(kInFlight), accumulators,
                         [&](Value first, ValueRange values) { return accumulate(first, kInFlight, values); });
  return k_.loop(whole, elements, k_.number(1), accumulators,
                 [&](Value first, ValueRange values) { return accumulate(first, 1, values); });
}

void WindowsWriter::store(const Point &result, const Value *total) {
  Bodies::Scope scope(bodies_);
  for (const RowSum &sum : sums_) {
    Values finished;
    for (unsigned lane = 0; lane < lanes_; ++lane)
      finished.push_back(bodies_.finishBegun(sum, result, lane, *total++));
    bodies_.setRow(sum, finished);
  }
  for (const KernelOp &op : w_.kernel.ops)
    if (w_.shape.group.isPerRow(op.op))
      bodies_.storeRow(op, result);
}

/// The totals, computed here: else each would be where it is stored, under a condition, and what it is computed from
/// would wait for that in registers.
void WindowsWriter::finishHere(Values &totals) {
  for (Value &total : totals) {
    const unsigned bits = total.getType().getIntOrFloatBitWidth();
    if (bits != 32 && bits != 64)
      continue;
    Type type = total.getType(), integer = k_.b.getIntegerType(bits);
    if (type == integer)
      total = k_.opaque(total);
    else
      total = arith::BitcastOp::create(k_.b, k_.loc, type,
                                       k_.opaque(arith::BitcastOp::create(k_.b, k_.loc, integer, total)));
  }
}

void WindowsWriter::store(Values totals) {
  auto isWhole = [&](unsigned axis, int64_t side) { return side == 1 || *w_.shape.axes[axis].size % side == 0; };
  if (!isOne() && (!isWhole(parallel_ - 2, tile_.run) || !isWhole(parallel_ - 3, tile_.lines)))
    finishHere(totals);
  const size_t each = totals.size() / results_.size();
  for (auto [number, result] : llvm::enumerate(results_)) {
    auto storeOne = [&, i = number, at = &result] { store(*at, totals.begin() + i * each); };
    Value isNew;
    auto compare = [&, at = &result](unsigned axis, int64_t side, Value first) {
      if (isWhole(axis, side))
        return;
      Value is = k_.less(first, k_.add(at->index[axis], k_.number(1)));
      isNew = isNew ? k_.both(isNew, is) : is;
    };
    if (tile_.run > 1)
      compare(parallel_ - 2, tile_.run, firstAlong_);
    if (tile_.lines > 1)
      compare(parallel_ - 3, tile_.lines, firstAcross_);
    if (isNew)
      k_.when(isNew, storeOne);
    else
      storeOne();
  }
}

} // namespace

std::optional<Plan> Windows::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  const bool combines = shape.group.hasReduction() && llvm::all_of(kernel.ops, [](const KernelOp &op) {
                          linalg::GenericOp generic = op.op;
                          return generic.getNumReductionLoops() == 0 || dispatch::reductionBodyOf(generic).has_value();
                        });
  if (!combines || phasesOf(kernel, shape.group).size() != 1 || readsAgain(kernel, shape) ||
      storesElements(kernel, shape))
    return std::nullopt;
  const bool isAcross = shape.parallel != 0 && windowAlong(kernel, shape, shape.parallel - 1);
  uint32_t width = shape.parallel == 0 || isAcross ? 1 : vectorWidth(kernel, shape, shape.parallel - 1);
  const size_t sums = phasesOf(kernel, shape.group).front().size();
  while (width > 1 && width * sums > kMostAccumulators)
    width /= 2;
  const Tile tile = tileFor(kernel, shape, width, sums);
  SmallVector<Extent> extents = extentsOf(shape.parallelAxes());
  if (tile.size() > 1)
    extents = {Extent{tilesOf(shape, tile), Value()}};
  return Plan{name(),
              kThreads,
              {{"width", tile.width}, {"run", tile.run}, {"lines", tile.lines}},
              {{extents, int64_t(kThreads) * tile.width}}};
}

bool Windows::takes(StringRef choice, int64_t value) const {
  if (choice == "threads")
    return value == kThreads;
  return choice == "lines" ? value == 1 || value == 2 || value == 4
                           : choice != "run" || value == 1 || value == 2 || value == 4 || value == 8;
}

void Windows::write(Writer &writer) const {
  WindowsWriter(writer).run();
}

} // namespace tenon::compiler::codegen
