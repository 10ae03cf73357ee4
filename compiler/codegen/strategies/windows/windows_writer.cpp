// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/windows/windows_writer.h"

#include "compiler/codegen/strategies/windows/window_rows.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Long windows, such as all places of an image, are walked row by row: rows of so many elements, and so many of them.
constexpr int64_t kLeastOfRow = 7, kLeastRows = 4;
// Places of a window that a tile's results take at once.
constexpr int64_t kInFlightOfTile = 4;

class WindowsWriter {
public:
  explicit WindowsWriter(Writer &w)
      : w_(w), k_(w.k), bodies_(w.bodies), width_(w.choice("width")),
        tile_({sideOf(w, "lines", 3), sideOf(w, "run", 2), width_}), parallel_(w.shape.parallel),
        sums_(phasesOf(w.kernel, w.shape.group).front()) {
    if (tile_.run > 1 && slidesDownColumns(w.kernel, w.shape, sums_.size()))
      rows_ = ImageRows::of(w.kernel, w.shape);
  }

  /// What block `block` of the plan computes.
  void run(Value block);
  /// Of all results.
  Value blocks() {
    const int64_t perBlock = int64_t(k_.threads) * width_;
    return k_.div(k_.add(numbers(), k_.number(perBlock - 1)), k_.number(perBlock));
  }

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
  void slide(unsigned axis, int64_t lines);
  Values contributionsOf(int64_t result, int64_t inWindow, int64_t inRow);
  void finishHere(MutableArrayRef<Value> totals);
  void store(MutableArrayRef<Value> totals, size_t first, size_t count);
  void store(const Point &result, const Value *total);

  Writer &w_;
  KernelBuilder &k_;
  Bodies &bodies_;
  const uint32_t width_;
  const WindowTile tile_; // results of a thread, whose windows overlap
  const unsigned parallel_;
  const SmallVector<RowSum> sums_;
  unsigned lanes_ = 1;
  SmallVector<Point> results_;     // positions on the parallel axes
  Value firstAlong_, firstAcross_; // of those that this tile stores
  std::optional<ImageRows> rows_;  // of an image whose channels come first, where windows slide down columns
  Values elements_;                // of one of them
  int64_t place_ = 0;              // of the window, along it
  bool isBackwards_ = false;       // it runs backwards there; its last place, the image's first, comes first
  Value row_;                      // of a long window, whose elements are numbered along the last axis; null: all are
};

/// Of results, or of tiles of them.
Value WindowsWriter::numbers() {
  if (isOne())
    return w_.space.size(0, parallel_);
  Value all = k_.number(1);
  for (unsigned axis = 0; axis < parallel_; ++axis) {
    const int64_t side = sideAlong(w_.shape, axis, tile_);
    all = k_.mul(all, side == 1 ? w_.space.size(axis)
                                : k_.number(int64_t(llvm::divideCeil(*w_.shape.axes[axis].size, side))));
  }
  return all;
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

void WindowsWriter::run(Value block) {
  // Tiles of many results of small windows would get more registers than two blocks have (measured on an H200: 22 us,
  // 30 of one block), and so would f32's down which larger ones slide, channels last (7 x 7, 56 x 56, 96 channels: 44
  // us, 56); of narrow elements, two of which a thread has at once, those would not do with them.
  constexpr int64_t kManyNumbers = 96, kWideLanes = 4;
  const int64_t window = GroupShape::sizeOf(w_.shape.reducedAxes()).value_or(kLongWindow);
  const bool slidesWide = tile_.slides() && window > kInFlight && window < kLongWindow &&
                          readWidth(w_.kernel, w_.shape, parallel_ - 1) == kWideLanes;
  if ((tile_.size() * width_ >= kManyNumbers && window <= kInFlight) || slidesWide)
    k_.wantResident(2);
  w_.space.vectorAxis = parallel_ == 0 ? 0 : parallel_ - 1;
  if (rows_ && !rows_->border)
    bodies_.stage(*rows_->op, rows_->image, [&](const Point &) { return rows_->at(elements_, place_, lanes_); });
  Value results = numbers();
  Value first = k_.mul(block, k_.number(int64_t(k_.threads) * width_));
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
  Value isAligned = bodies_.isAligned(width_, /*needsWhole=*/true);
  if (rows_)
    isAligned = k_.both(isAligned, bodies_.isAligned(rows_->image, rows_->alignment(width_)));
  k_.branch(isAligned, wide, apart);
}

void WindowsWriter::writeFrom(Value number, unsigned width) {
  Bodies::Scope scope(bodies_);
  lanes_ = width;
  bodies_.setWidth(width);
  placeResults(number);
  if (rows_)
    return slide(parallel_ - 2, tile_.run);
  if (tile_.slides() && GroupShape::sizeOf(w_.shape.reducedAxes()).value_or(kLongWindow) < kLongWindow)
    return slide(parallel_ - 3, tile_.lines);
  Values totals = walk();
  store(totals, 0, results_.size());
}

WindowsWriter::Values WindowsWriter::accumulate(Value first, int64_t count, ValueRange accumulators) {
  Bodies::Scope scope(bodies_);
  SmallVector<Point> points; // [results][count]
  for (const Point &result : results_)
    for (int64_t i = 0; i < count; ++i) {
      Point &point = points.emplace_back(result);
      const unsigned last = w_.shape.axes.size() - 1;
      if (row_) {
        w_.space.place(point, parallel_, last, row_);
        point.index[last] = k_.add(first, k_.number(i));
      } else {
        w_.space.place(point, parallel_, last + 1, k_.add(first, k_.number(i)));
      }
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
  if (known && !isOne() && *known < kLongWindow) {
    // Row by row of the window, or so: registers do not hold all of it.
    const int64_t row = std::min(*w_.shape.reducedAxes().back().size, kInFlight);
    for (int64_t first = 0; first < *known; first += row)
      accumulators = accumulate(k_.number(first), std::min(row, *known - first), accumulators);
    return accumulators;
  }
  const int64_t inRow = known ? *w_.shape.reducedAxes().back().size : 0;
  const int64_t atOnce = isOne() ? kInFlight : kInFlightOfTile;
  if (known && w_.shape.reducedAxes().size() > 1 && inRow >= (isOne() ? kLeastOfRow : 1) &&
      *known / inRow >= (isOne() ? kLeastRows : 1)) {
    // Where an element lies is what its row's place and its own number make, without a division.
    accumulators =
        k_.loop(k_.number(0), k_.number(*known / inRow), k_.number(1), accumulators, [&](Value row, ValueRange values) {
          row_ = row;
          const int64_t whole = inRow / atOnce * atOnce;
          Values next = llvm::to_vector(values);
          if (whole != 0)
            next = k_.loop(k_.number(0), k_.number(whole), k_.number(atOnce), next,
                           [&](Value first, ValueRange carried) { return accumulate(first, atOnce, carried); });
          return whole == inRow ? next : accumulate(k_.number(whole), inRow - whole, next);
        });
    row_ = Value();
    return accumulators;
  }
  Value elements = w_.space.size(parallel_, w_.shape.axes.size());
  Value whole = k_.mul(k_.div(elements, k_.number(atOnce)), k_.number(atOnce));
  accumulators = k_.loop(k_.number(0), whole, k_.number(atOnce), accumulators,
                         [&](Value first, ValueRange values) { return accumulate(first, atOnce, values); });
  return k_.loop(whole, elements, k_.number(1), accumulators,
                 [&](Value first, ValueRange values) { return accumulate(first, 1, values); });
}

/// What a row of a result's window adds to its sums: lane after lane of each sum, place after place.
WindowsWriter::Values WindowsWriter::contributionsOf(int64_t result, int64_t inWindow, int64_t inRow) {
  Values values;
  for (int64_t number = 0; number < inRow; ++number) {
    const int64_t i = isBackwards_ ? inRow - 1 - number : number;
    Point point = results_[result];
    point.index[parallel_] = k_.number(inWindow);
    w_.space.place(point, parallel_ + 1, w_.shape.axes.size(), k_.number(i));
    point.id = w_.space.newId();
    place_ = i;
    if (rows_ && rows_->border)
      bodies_.assumeLanes(rows_->border, rows_->at(elements_, i, lanes_));
    for (const RowSum &sum : sums_)
      for (unsigned lane = 0; lane < lanes_; ++lane)
        values.push_back(bodies_.contribution(sum, point, lane));
    bodies_.assumeNothing();
  }
  return values;
}

/// Row by row of what the windows of some lines meet: a row is read once, and combined with the sums of all lines whose
/// windows it lies in. A line is stored when its window's last row has been.
void WindowsWriter::slide(unsigned axis, int64_t lines) {
  const WindowAlong down = *windowAlong(w_.kernel, w_.shape, axis);
  const int64_t inRow = *GroupShape::sizeOf(w_.shape.reducedAxes()) / down.length, across = tile_.size() / lines;
  const std::optional<WindowAlong> along = windowAlong(w_.kernel, w_.shape, parallel_ - (rows_ ? 1 : 2));
  isBackwards_ = along && along->apart < 0;
  const size_t each = sums_.size() * lanes_; // of a result
  Values totals;
  for (int64_t result = 0; result < tile_.size(); ++result)
    for (const RowSum &sum : sums_)
      totals.append(lanes_, bodies_.begin(sum));
  const int64_t apart = std::abs(down.apart);
  for (int64_t row = 0; row <= (lines - 1) * down.step + (down.length - 1) * apart; ++row) {
    Bodies::Scope scope(bodies_);
    SmallVector<std::pair<int64_t, Values>> contributed; // result, what it gets
    std::optional<int64_t> done;                         // the line
    for (int64_t line = 0; line < lines; ++line) {
      const int64_t behind = row - line * down.step, number = behind / apart;
      if (behind < 0 || behind % apart != 0 || number >= down.length)
        continue;
      if (number == down.length - 1)
        done = line;
      const int64_t inWindow = down.apart < 0 ? down.length - 1 - number : number;
      if (rows_ && contributed.empty()) {
        Point point = results_[line];
        point.index[parallel_] = k_.number(inWindow);
        elements_ = rows_->read(k_, w_.space, bodies_, point, lanes_);
      }
      for (int64_t result = line * across; result < (line + 1) * across; ++result)
        contributed.push_back({result, contributionsOf(result, inWindow, inRow)});
    }
    for (const auto &[result, values] : contributed)
      for (auto [i, value] : llvm::enumerate(values)) {
        Value &total = totals[result * each + i % each];
        total = combine(k_, sums_[i % each / lanes_].sum, total, value);
      }
    if (done)
      store(MutableArrayRef<Value>(totals).slice(*done * across * each, across * each), *done * across, across);
  }
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
void WindowsWriter::finishHere(MutableArrayRef<Value> totals) {
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

/// Results from `first` on.
void WindowsWriter::store(MutableArrayRef<Value> totals, size_t first, size_t count) {
  auto isWhole = [&](unsigned axis, int64_t side) { return side == 1 || *w_.shape.axes[axis].size % side == 0; };
  if (!isOne() && (!isWhole(parallel_ - 2, tile_.run) || !isWhole(parallel_ - 3, tile_.lines)))
    finishHere(totals);
  const size_t each = totals.size() / count;
  for (auto [number, result] : llvm::enumerate(MutableArrayRef<Point>(results_).slice(first, count))) {
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

void writeWindows(Writer &writer) {
  WindowsWriter(writer).run(writer.k.block());
}

void writeWindowsIn(Writer &writer, int64_t blocks) {
  KernelBuilder &k = writer.k;
  WindowsWriter windows(writer);
  k.loop(k.block(), windows.blocks(), k.number(blocks), {}, [&](Value block, ValueRange) {
    Bodies::Scope scope(writer.bodies);
    windows.run(block);
    return SmallVector<Value>();
  });
}

} // namespace tenon::compiler::codegen
