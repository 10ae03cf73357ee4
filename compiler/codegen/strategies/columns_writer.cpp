// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/columns_writer.h"

#include "compiler/codegen/plan/group_measures.h"

#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Rows that a thread loads before it combines them; of variances, bytes, since more is computed of them.
constexpr uint32_t kInFlight = 4;
constexpr uint32_t kBytesInFlight = 64;
// Threads of a multiprocessor that columns of unknown size leave registers for: the code for vectors that are not
// aligned would take more than the rest (an H100, batch_norm_last 193600 x 250 bf16: 80 instead of 51).
constexpr uint32_t kResidentThreads = 1024;
// The same of columns that are taken one by one, of which a thread loads little, and computes little: sums and maxima.
constexpr uint32_t kResidentOfOne = 2048;
constexpr uint32_t kLittleWork = 4;

class ColumnsWriter {
public:
  explicit ColumnsWriter(Writer &w)
      : w_(w), k_(w.k), bodies_(w.bodies), width_(w.choice("width")), vectors_(w.choice("across")),
        isKept_(w.choiceOr("kept", 0) != 0), phases_(phasesOf(w.kernel, w.shape.group)), sums_(phases_.front()),
        then_(isKept_ ? SmallVector<OnePassSum>() : *sumsOfOnePass(w.kernel, w.shape)), axis_(w.shape.parallel - 1),
        reducedFirst_(w.shape.parallel), storesElements_(storesElements(w.kernel, w.shape)) {
    if (then_.empty())
      return;
    uint32_t bytes = 0; // that a thread loads of a row
    for (const ElementInput &input : elementInputs(w.kernel, w.shape))
      bytes += width_ * dispatch::elementBytes(input.tensor->element);
    inFlight_ = llvm::bit_floor(std::clamp(kBytesInFlight / std::max(bytes, 1u), kInFlight, 2 * kInFlight));
  }

  void run() {
    w_.space.vectorAxis = axis_;
    const bool isPlain = width_ == 1 && then_.empty() && elementInputs(w_.kernel, w_.shape).size() == 1 &&
                         sums_.size() == 1 && workOf(w_.kernel) <= kLittleWork;
    if (!GroupShape::sizeOf(w_.shape.axes))
      k_.wantResident((isPlain ? kResidentOfOne : kResidentThreads) / k_.threads);
    if (width_ == 1)
      return writeTile(1);
    k_.branch(bodies_.isAligned(width_, /*needsWhole=*/true), [&] { writeTile(width_); }, [&] { writeTile(1); });
  }

private:
  using Accumulators = SmallVector<Value>; // [sums][lanes], then [later sums][lanes][values that one keeps]

  void writeTile(unsigned width);
  void writePassing(uint32_t across, uint32_t down);
  void writeKept(uint32_t across, uint32_t down);
  void loadKept(uint32_t down);
  Accumulators ofKept(ArrayRef<RowSum> sums);
  void placeThread(unsigned width, uint32_t across);
  Accumulators walkDown(uint32_t down);
  Accumulators accumulate(Value first, unsigned count, uint32_t down, ValueRange accumulators);
  void join(ArrayRef<Point> points, MutableArrayRef<Value> states);
  Accumulators combineDown(ArrayRef<RowSum> sums, Accumulators values, uint32_t across, uint32_t down);
  Accumulators ofFirstThreads(ArrayRef<RowSum> sums, Accumulators values, uint32_t across, uint32_t down);
  void setColumns(ArrayRef<RowSum> sums, ArrayRef<Value> totals);
  void storeResults(ArrayRef<RowSum> sums, ArrayRef<Value> totals);
  SmallVector<RowSum> laterSums() const {
    return llvm::map_to_vector(then_, [](const OnePassSum &sum) { return sum.sum; });
  }

  Writer &w_;
  KernelBuilder &k_;
  Bodies &bodies_;
  const uint32_t width_;
  const uint32_t vectors_; // of a tile
  const bool isKept_;      // a thread keeps its rows; else it sees each in passing
  const SmallVector<SmallVector<RowSum>> phases_;
  const SmallVector<RowSum> sums_;     // of the first phase
  const SmallVector<OnePassSum> then_; // that know them
  uint32_t inFlight_ = kInFlight;
  const unsigned axis_, reducedFirst_;
  const bool storesElements_;
  unsigned lanes_ = 1;  // of a vector
  Point column_;        // positions on the parallel axes
  Value exists_;        // whether the thread's column does
  Value across_, down_; // of the thread
  struct KeptRow {
    Point point;
    Value exists; // null: it does
  };
  SmallVector<KeptRow> kept_;
};

/// The tile is the same however wide its accesses are.
void ColumnsWriter::writeTile(unsigned width) {
  Bodies::Scope scope(bodies_);
  lanes_ = width;
  bodies_.setWidth(width);
  const uint32_t across = vectors_ * width_ / width;
  const uint32_t down = k_.threads / across;
  placeThread(width, across);
  if (isKept_)
    writeKept(across, down);
  else
    writePassing(across, down);
}

/// Each element is seen once.
void ColumnsWriter::writePassing(uint32_t across, uint32_t down) {
  Accumulators found = walkDown(down);
  Accumulators totals(ArrayRef(found).take_front(sums_.size() * lanes_));
  totals = combineDown(sums_, totals, across, down);
  SmallVector<RowSum> last = sums_;
  if (!then_.empty()) {
    setColumns(sums_, ofFirstThreads(sums_, totals, across, down));
    ArrayRef<Value> states = ArrayRef(found).drop_front(totals.size());
    totals.clear();
    for (const OnePassSum &sum : then_)
      for (unsigned lane = 0; lane < lanes_; ++lane, states = states.drop_front(sum.size()))
        totals.push_back(
            sum.finish(k_, ValueRange(states.take_front(sum.size())), sum.referenceOf(bodies_, column_, lane)));
    last = laterSums();
    totals = combineDown(last, totals, across, down);
  }
  k_.when(k_.both(exists_, k_.equal(down_, k_.number(0))), [&] { storeResults(last, totals); });
}

/// Sums of later phases know those of earlier ones, and so do elements that are stored: a thread keeps its rows.
void ColumnsWriter::writeKept(uint32_t across, uint32_t down) {
  loadKept(down);
  for (const SmallVector<RowSum> &phase : phases_)
    setColumns(phase, ofFirstThreads(phase, combineDown(phase, ofKept(phase), across, down), across, down));
  for (const KeptRow &row : kept_)
    k_.when(row.exists ? k_.both(exists_, row.exists) : exists_, [&] {
      Bodies::Scope scope(bodies_);
      bodies_.storeElements(row.point);
    });
  k_.when(k_.both(exists_, k_.equal(down_, k_.number(0))), [&] {
    Bodies::Scope scope(bodies_);
    for (const KernelOp &op : w_.kernel.ops)
      if (w_.shape.group.isPerRow(op.op))
        bodies_.storeRow(op, column_);
  });
}

/// Where the thread has no such row it loads the last one, and nobody sees it.
void ColumnsWriter::loadKept(uint32_t down) {
  const int64_t rows = *GroupShape::sizeOf(w_.shape.reducedAxes());
  kept_.clear();
  for (int64_t first = 0; first < rows; first += down) {
    Value row = k_.add(down_, k_.number(first));
    Value exists = first + down <= rows ? Value() : k_.less(row, k_.number(rows));
    Point point = column_;
    w_.space.place(point, reducedFirst_, w_.shape.axes.size(), exists ? k_.min(row, k_.number(rows - 1)) : row);
    point.id = w_.space.newId();
    kept_.push_back({point, exists});
  }
  for (const KeptRow &row : kept_)
    bodies_.preload(row.point);
}

/// [sums][lanes]
ColumnsWriter::Accumulators ColumnsWriter::ofKept(ArrayRef<RowSum> sums) {
  Accumulators accumulators;
  for (const RowSum &sum : sums)
    for (unsigned lane = 0; lane < lanes_; ++lane) {
      Value value = neutral(k_, sum.sum);
      for (const KeptRow &row : kept_) {
        Value next = combine(k_, sum.sum, value, bodies_.contribution(sum, row.point, lane));
        value = row.exists ? k_.select(row.exists, next, value) : next;
      }
      accumulators.push_back(value);
    }
  return accumulators;
}

void ColumnsWriter::placeThread(unsigned width, uint32_t across) {
  Value columns = w_.space.size(axis_);
  Value tile = k_.number(int64_t(vectors_) * width_);
  Value tiles = k_.div(k_.add(columns, k_.number(int64_t(vectors_) * width_ - 1)), tile);
  Value block = k_.block();
  across_ = k_.rem(k_.thread(), k_.number(across));
  down_ = k_.div(k_.thread(), k_.number(across));
  const bool isOneTileRow = axis_ == 0;
  Value tileOfRow = isOneTileRow ? block : k_.rem(block, tiles);
  Value column = k_.add(k_.mul(tileOfRow, tile), k_.mul(across_, k_.number(width)));
  exists_ = k_.less(column, columns);
  // All threads of the block take part in its barriers; one without a column computes the last one again.
  column = k_.min(column, k_.sub(columns, k_.number(width)));
  column_ = Point();
  column_.index.resize(w_.shape.axes.size(), k_.number(0));
  if (!isOneTileRow)
    w_.space.place(column_, 0, axis_, k_.div(block, tiles));
  column_.index[axis_] = column;
  column_.id = w_.space.newId();
}

ColumnsWriter::Accumulators ColumnsWriter::accumulate(Value first, unsigned count, uint32_t down,
                                                      ValueRange accumulators) {
  Bodies::Scope scope(bodies_);
  SmallVector<Point> points;
  for (unsigned i = 0; i < count; ++i) {
    Point point = column_;
    w_.space.place(point, reducedFirst_, w_.shape.axes.size(), k_.add(first, k_.number(int64_t(i) * down)));
    point.id = w_.space.newId();
    points.push_back(point);
  }
  for (const Point &point : points)
    bodies_.preload(point);
  if (storesElements_)
    k_.when(exists_, [&] {
      Bodies::Scope inside(bodies_);
      for (const Point &point : points)
        bodies_.storeElements(point);
    });
  Accumulators next = llvm::to_vector(accumulators);
  for (const Point &point : points) {
    Value *accumulator = next.begin();
    for (const RowSum &sum : sums_)
      for (unsigned lane = 0; lane < lanes_; ++lane, ++accumulator)
        *accumulator = combine(k_, sum.sum, *accumulator, bodies_.contribution(sum, point, lane));
  }
  join(points, MutableArrayRef(next).drop_front(sums_.size() * lanes_));
  return next;
}

/// The later sums take what the points add to the sums that they know.
void ColumnsWriter::join(ArrayRef<Point> points, MutableArrayRef<Value> states) {
  for (const OnePassSum &sum : then_) {
    Value seen; // how many elements, which is the same for all lanes
    for (unsigned lane = 0; lane < lanes_; ++lane, states = states.drop_front(sum.size())) {
      MutableArrayRef<Value> state = states.take_front(sum.size());
      if (sum.kind == OnePassSum::Kind::Squares)
        state[0] = seen = seen ? seen : state[0];
      SmallVector<Value> elements;
      for (const Point &point : points)
        elements.push_back(bodies_.contribution(sum.over, point, lane));
      llvm::copy(sum.join(k_, ValueRange(state), elements), state.begin());
    }
  }
}

/// Rows down_, down_ + down, ... of the reduced axes, several at a time, then the rest one by one.
ColumnsWriter::Accumulators ColumnsWriter::walkDown(uint32_t down) {
  Value rows = w_.space.size(reducedFirst_, w_.shape.axes.size());
  Accumulators accumulators = {down_};
  for (const RowSum &sum : sums_)
    accumulators.append(lanes_, neutral(k_, sum.sum));
  for (const OnePassSum &sum : then_)
    for (unsigned lane = 0; lane < lanes_; ++lane)
      llvm::append_range(accumulators, sum.start(k_));
  const int64_t step = int64_t(down) * inFlight_;
  // Signed: few rows have no place for a whole step.
  Value whole = k_.sub(rows, k_.number(int64_t(down) * (inFlight_ - 1)));
  accumulators = k_.loop(down_, whole, k_.number(step), accumulators, [&](Value first, ValueRange values) {
    Accumulators next = {k_.add(first, k_.number(step))};
    llvm::append_range(next, accumulate(first, inFlight_, down, values.drop_front()));
    return next;
  });
  return k_.loop(accumulators.front(), rows, k_.number(down), ValueRange(accumulators).drop_front(),
                 [&](Value first, ValueRange values) { return accumulate(first, 1, down, values); });
}

/// A tree over the threads of a column: the lower half of them takes what the upper half has left in shared memory.
/// Every thread leaves its values once, in a place of its own, so one barrier a step is enough.
ColumnsWriter::Accumulators ColumnsWriter::combineDown(ArrayRef<RowSum> sums, Accumulators values, uint32_t across,
                                                       uint32_t down) {
  SmallVector<Value> arenas;
  for (const RowSum &sum : sums)
    arenas.push_back(k_.shared(storedType(sum.sum.type), uint64_t(down) * across * lanes_));
  auto place = [&](size_t sum, Value row, unsigned lane) {
    Value slot = k_.add(k_.mul(row, k_.number(across)), across_);
    slot = k_.add(k_.mul(slot, k_.number(lanes_)), k_.number(lane));
    return k_.at(arenas[sum], storedType(sums[sum].sum.type), slot);
  };
  for (uint32_t half = down / 2; half != 0; half /= 2) {
    Value isLower = k_.less(down_, k_.number(half));
    Value isUpper = k_.less(k_.sub(down_, k_.number(half)), k_.number(half));
    k_.when(isUpper, [&] {
      for (size_t sum = 0; sum < sums.size(); ++sum)
        for (unsigned lane = 0; lane < lanes_; ++lane)
          storeShared(k_, values[sum * lanes_ + lane], place(sum, down_, lane));
    });
    k_.barrier();
    values = k_.choose(
        isLower, TypeRange(ValueRange(values)),
        [&] {
          Accumulators combined;
          Value other = k_.add(down_, k_.number(half));
          for (size_t sum = 0; sum < sums.size(); ++sum)
            for (unsigned lane = 0; lane < lanes_; ++lane)
              combined.push_back(combine(k_, sums[sum].sum, values[sum * lanes_ + lane],
                                         loadShared(k_, sums[sum].sum.type, place(sum, other, lane))));
          return combined;
        },
        [&] { return values; });
  }
  return values;
}

/// What the first thread of each column has, all of its threads have then.
ColumnsWriter::Accumulators ColumnsWriter::ofFirstThreads(ArrayRef<RowSum> sums, Accumulators values, uint32_t across,
                                                          uint32_t down) {
  if (down == 1)
    return values;
  SmallVector<Value> places;
  for (size_t i = 0; i < values.size(); ++i) {
    Type type = storedType(sums[i / lanes_].sum.type);
    places.push_back(k_.at(k_.shared(type, across), type, across_));
  }
  k_.when(k_.equal(down_, k_.number(0)), [&] {
    for (auto [value, place] : llvm::zip_equal(values, places))
      storeShared(k_, value, place);
  });
  k_.barrier();
  for (auto [i, place] : llvm::enumerate(places))
    values[i] = loadShared(k_, sums[i / lanes_].sum.type, place);
  return values;
}

void ColumnsWriter::setColumns(ArrayRef<RowSum> sums, ArrayRef<Value> totals) {
  for (const RowSum &sum : sums) {
    SmallVector<Value> finished;
    for (unsigned lane = 0; lane < lanes_; ++lane)
      finished.push_back(bodies_.finish(sum, column_, lane, totals[lane]));
    totals = totals.drop_front(lanes_);
    bodies_.setRow(sum, finished);
  }
}

void ColumnsWriter::storeResults(ArrayRef<RowSum> sums, ArrayRef<Value> totals) {
  Bodies::Scope scope(bodies_);
  setColumns(sums, totals);
  for (const KernelOp &op : w_.kernel.ops)
    if (w_.shape.group.isPerRow(op.op))
      bodies_.storeRow(op, column_);
}

} // namespace

std::optional<SmallVector<OnePassSum>> sumsOfOnePass(const KernelFunction &kernel, const GroupShape &shape) {
  const SmallVector<SmallVector<RowSum>> phases = phasesOf(kernel, shape.group);
  if (phases.size() == 1 && !readsAgain(kernel, shape))
    return SmallVector<OnePassSum>();
  if (phases.size() != 2 || storesElements(kernel, shape))
    return std::nullopt;
  return onePassSums(kernel, shape, phases[0], phases[1]);
}

void writeColumns(Writer &writer) {
  ColumnsWriter(writer).run();
}

} // namespace tenon::compiler::codegen
