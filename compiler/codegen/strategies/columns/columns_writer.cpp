// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/columns/columns_writer.h"

#include "compiler/codegen/kernel/bodies/early_reads.h"
#include "compiler/codegen/plan/group_measures.h"
#include "compiler/codegen/strategies/columns/columns_tile.h"

#include "compiler/dispatch/analysis/kernel_config.h"

#include "llvm/Support/MathExtras.h"

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
// The same of columns that threads keep.
constexpr uint32_t kResidentOfKept = 512;
// Rows on the way where an element is all that a thread loads of one: four of two bytes leave memory waiting, and so do
// four of few. Wider ones of unknown size have no registers for more.
constexpr uint32_t kOfOneInFlight = 8;
constexpr uint64_t kFewOfThread = 32;

class ColumnsWriter {
public:
  explicit ColumnsWriter(Writer &w)
      : w_(w), k_(w.k), bodies_(w.bodies), width_(w.choice("width")), isKept_(w.choiceOr("kept", 0) != 0),
        phases_(phasesOf(w.kernel, w.shape.group)), sums_(phases_.front()),
        then_(isKept_ ? SmallVector<OnePassSum>() : *sumsOfOnePass(w.kernel, w.shape)), axis_(w.shape.parallel - 1),
        reducedFirst_(w.shape.parallel), storesElements_(storesElements(w.kernel, w.shape)),
        reads_(w.bodies, w.kernel, w.shape) {
    if (then_.empty())
      return;
    uint32_t bytes = 0; // that a thread loads of a row
    for (const ElementInput &input : elementInputs(w.kernel, w.shape))
      bytes += width_ * dispatch::elementBytes(input.tensor->element);
    inFlight_ = llvm::bit_floor(std::clamp(kBytesInFlight / std::max(bytes, 1u), kInFlight, 2 * kInFlight));
  }

  void run() {
    w_.space.vectorAxis = axis_;
    if (!GroupShape::sizeOf(w_.shape.axes))
      k_.wantResident(std::max(1u, residentThreads() / k_.threads));
    if (width_ == 1)
      return writeTile(1);
    k_.branch(bodies_.isAligned(width_, /*needsWhole=*/true), [&] { writeTile(width_); }, [&] { writeTile(1); });
  }

private:
  using Accumulators = SmallVector<Value>; // [sums][lanes], then [later sums][lanes][values that one keeps]

  void writeTile(unsigned width);
  void writePassing();
  void writeTotal();
  void leavePart(ArrayRef<Value> totals);
  void writeKept();
  void loadKept();
  Accumulators ofKept(ArrayRef<RowSum> sums);
  /// Rows that a thread has on their way together.
  struct Flight {
    uint32_t together;
    bool halves = false; // of the rest half as many, then half of these; else one by one
    bool isEven = false; // of the rest as many, of which some need not exist
  };
  Flight flightOf();
  Accumulators walkDown();
  Accumulators accumulate(Value first, unsigned count, ValueRange accumulators, Value rows = {});
  void join(ArrayRef<Point> points, MutableArrayRef<Value> states);
  Value inScratch(size_t sum, Value part, unsigned lane) {
    Type type = storedType(sums_[sum].sum.type);
    return k_.at(w_.arguments.pointers[w_.kernel.scratch[sum].binding], type, tile_->inParts(part, lane));
  }
  Value isFirst() { return k_.both(tile_->exists(), k_.equal(tile_->down(), k_.number(0))); }
  void setColumns(ArrayRef<RowSum> sums, ArrayRef<Value> totals);
  void storeResults(ArrayRef<RowSum> sums, ArrayRef<Value> totals);
  uint32_t residentThreads() const {
    return isKept_ ? kResidentOfKept : width_ == 1 && isPlain() ? kResidentOfOne : kResidentThreads;
  }
  /// Whether elements are loaded, and added up or compared, and that is all.
  bool isPlain() const {
    return then_.empty() && !storesElements_ && elementInputs(w_.kernel, w_.shape).size() == 1 && sums_.size() == 1 &&
           workOf(w_.kernel) <= kLittleWork;
  }
  bool hasShortElements() const {
    return dispatch::elementBytes(elementInputs(w_.kernel, w_.shape).front().tensor->element) <= 2;
  }
  SmallVector<RowSum> laterSums() const {
    return llvm::map_to_vector(then_, [](const OnePassSum &sum) { return sum.sum; });
  }

  Writer &w_;
  KernelBuilder &k_;
  Bodies &bodies_;
  const uint32_t width_;
  const bool isKept_; // a thread keeps its rows; else it sees each in passing
  const SmallVector<SmallVector<RowSum>> phases_;
  const SmallVector<RowSum> sums_;     // of the first phase
  const SmallVector<OnePassSum> then_; // that know them
  uint32_t inFlight_ = kInFlight;
  const unsigned axis_, reducedFirst_;
  const bool storesElements_;
  EarlyReads reads_;
  unsigned lanes_ = 1; // of a vector
  std::optional<ColumnsTile> tile_;
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
  tile_.emplace(w_, width);
  if (w_.choiceOr("total", 0))
    writeTotal();
  else if (isKept_)
    writeKept();
  else
    writePassing();
}

/// Each element is seen once.
void ColumnsWriter::writePassing() {
  Accumulators found = walkDown();
  Accumulators totals(ArrayRef(found).take_front(sums_.size() * lanes_));
  totals = tile_->combineDown(sums_, totals);
  SmallVector<RowSum> last = sums_;
  if (!then_.empty()) {
    setColumns(sums_, tile_->ofFirstThreads(sums_, totals));
    ArrayRef<Value> states = ArrayRef(found).drop_front(totals.size());
    totals.clear();
    for (const OnePassSum &sum : then_)
      for (unsigned lane = 0; lane < lanes_; ++lane, states = states.drop_front(sum.size()))
        totals.push_back(
            sum.finish(k_, ValueRange(states.take_front(sum.size())), sum.referenceOf(bodies_, tile_->column(), lane)));
    last = laterSums();
    totals = tile_->combineDown(last, totals);
  }
  k_.when(isFirst(), [&] {
    if (tile_->part())
      leavePart(totals);
    else
      storeResults(last, totals);
  });
}

/// What a part adds up is left in scratch memory.
void ColumnsWriter::leavePart(ArrayRef<Value> totals) {
  for (size_t sum = 0; sum < sums_.size(); ++sum)
    for (unsigned lane = 0; lane < lanes_; ++lane, totals = totals.drop_front())
      storeShared(k_, totals.front(), inScratch(sum, tile_->part(), lane));
}

/// What all parts have left, in their order.
void ColumnsWriter::writeTotal() {
  Accumulators totals;
  for (const RowSum &sum : sums_)
    totals.push_back(neutral(k_, sum.sum));
  Value parts = tile_->parts(), last = k_.sub(parts, k_.number(1)), threads = tile_->threadsDown();
  totals =
      k_.loop(tile_->down(), parts, k_.mul(threads, k_.number(kInFlight)), totals, [&](Value first, ValueRange values) {
        SmallVector<Accumulators> found(kInFlight);
        SmallVector<Value> places;
        for (uint32_t i = 0; i < kInFlight; ++i) {
          places.push_back(k_.add(first, k_.mul(threads, k_.number(i))));
          for (size_t sum = 0; sum < sums_.size(); ++sum)
            found[i].push_back(loadShared(k_, sums_[sum].sum.type, inScratch(sum, k_.min(places[i], last), 0)));
        }
        Accumulators next = llvm::to_vector(values);
        for (uint32_t i = 0; i < kInFlight; ++i)
          for (size_t sum = 0; sum < sums_.size(); ++sum)
            next[sum] =
                k_.select(k_.less(places[i], parts), combine(k_, sums_[sum].sum, next[sum], found[i][sum]), next[sum]);
        return next;
      });
  totals = tile_->combineDown(sums_, totals);
  k_.when(isFirst(), [&] { storeResults(sums_, totals); });
}

/// Sums of later phases know those of earlier ones, and so do elements that are stored: a thread keeps its rows.
void ColumnsWriter::writeKept() {
  loadKept();
  for (const SmallVector<RowSum> &phase : phases_)
    setColumns(phase, tile_->ofFirstThreads(phase, tile_->combineDown(phase, ofKept(phase))));
  for (const KeptRow &row : kept_)
    k_.when(row.exists ? k_.both(tile_->exists(), row.exists) : tile_->exists(), [&] {
      Bodies::Scope scope(bodies_);
      bodies_.storeElements(row.point);
    });
  k_.when(isFirst(), [&] {
    Bodies::Scope scope(bodies_);
    for (const KernelOp &op : w_.kernel.ops)
      if (w_.shape.group.isPerRow(op.op))
        bodies_.storeRow(op, tile_->column());
  });
}

/// Where the thread has no such row it loads the last one, and nobody sees it.
void ColumnsWriter::loadKept() {
  const int64_t rows = *GroupShape::sizeOf(w_.shape.reducedAxes()), down = *tile_->knownDown();
  kept_.clear();
  for (int64_t first = 0; first < rows; first += down) {
    Value row = k_.add(tile_->down(), k_.number(first));
    Value exists = first + down <= rows ? Value() : k_.less(row, k_.number(rows));
    Point point = tile_->column();
    w_.space.place(point, reducedFirst_, w_.shape.axes.size(), exists ? k_.min(row, k_.number(rows - 1)) : row);
    point.id = w_.space.newId();
    kept_.push_back({point, exists});
  }
  for (const KeptRow &row : kept_)
    bodies_.preload(row.point);
  for (const KeptRow &row : kept_)
    reads_.read(row.point);
}

/// [sums][lanes]
ColumnsWriter::Accumulators ColumnsWriter::ofKept(ArrayRef<RowSum> sums) {
  Accumulators accumulators;
  for (const RowSum &sum : sums)
    for (unsigned lane = 0; lane < lanes_; ++lane) {
      Value value = neutral(k_, sum.sum);
      for (const KeptRow &row : kept_) {
        Value next = combine(k_, sum.sum, value,
                             reads_.at(row.point, [&] { return bodies_.contribution(sum, row.point, lane); }));
        value = row.exists ? k_.select(row.exists, next, value) : next;
      }
      accumulators.push_back(value);
    }
  return accumulators;
}

/// @param rows if any, those behind the first need not exist: the thread loads the last one again, and nobody sees it
ColumnsWriter::Accumulators ColumnsWriter::accumulate(Value first, unsigned count, ValueRange accumulators,
                                                      Value rows) {
  Bodies::Scope scope(bodies_);
  SmallVector<Point> points;
  SmallVector<Value> exists(count);
  for (unsigned i = 0; i < count; ++i) {
    Point point = tile_->column();
    Value row = k_.add(first, k_.mul(tile_->threadsDown(), k_.number(i)));
    if (rows && i != 0) {
      exists[i] = k_.less(row, rows);
      row = k_.min(row, k_.sub(rows, k_.number(1)));
    }
    w_.space.place(point, reducedFirst_, w_.shape.axes.size(), row);
    point.id = w_.space.newId();
    points.push_back(point);
  }
  for (const Point &point : points)
    bodies_.preload(point);
  if (lanes_ == 1) // vectors have code for lanes that do not read alike, which takes the registers
    reads_.read(points);
  Accumulators next = llvm::to_vector(accumulators);
  for (auto [point, does] : llvm::zip_equal(points, exists)) {
    Value *accumulator = next.begin();
    for (const RowSum &sum : sums_)
      for (unsigned lane = 0; lane < lanes_; ++lane, ++accumulator) {
        Value with = combine(k_, sum.sum, *accumulator,
                             reads_.at(point, [&, &at = point] { return bodies_.contribution(sum, at, lane); }));
        *accumulator = does ? k_.select(does, with, *accumulator) : with;
      }
  }
  join(points, MutableArrayRef(next).drop_front(sums_.size() * lanes_));
  if (storesElements_) // what sums have seen is not computed again
    k_.when(tile_->exists(), [&] {
      Bodies::Scope inside(bodies_);
      for (const Point &point : points)
        bodies_.storeElements(point);
    });
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

/// The rows of the block, each thread some below each other, several at a time, then the rest.
ColumnsWriter::Accumulators ColumnsWriter::walkDown() {
  Value first = k_.add(tile_->firstRow(), tile_->down()), end = tile_->endRow(), down = tile_->threadsDown();
  Accumulators accumulators = {first};
  for (const RowSum &sum : sums_)
    accumulators.append(lanes_, neutral(k_, sum.sum));
  for (const OnePassSum &sum : then_)
    for (unsigned lane = 0; lane < lanes_; ++lane)
      llvm::append_range(accumulators, sum.start(k_));
  const Flight flight = flightOf();
  auto walk = [&](ValueRange values, uint32_t together, Value rows = {}) {
    // Signed: few rows have no place for a whole step.
    Value last = rows ? end : k_.sub(end, k_.mul(down, k_.number(together - 1))),
          step = k_.mul(down, k_.number(together));
    return k_.loop(values.front(), last, step, values, [&](Value first, ValueRange carried) {
      Accumulators next = {k_.add(first, step)};
      llvm::append_range(next, accumulate(first, together, carried.drop_front(), rows));
      return next;
    });
  };
  accumulators = walk(accumulators, flight.together);
  if (flight.isEven)
    accumulators = walk(accumulators, flight.together, end);
  else if (flight.halves)
    for (uint32_t together = flight.together / 2; together > 1; together /= 2)
      accumulators = walk(accumulators, together);
  if (!flight.isEven)
    accumulators = walk(accumulators, 1);
  accumulators.erase(accumulators.begin());
  return accumulators;
}

/// Elements that are loaded one by one, and added up or compared, wait for memory alone.
ColumnsWriter::Flight ColumnsWriter::flightOf() {
  if (lanes_ != 1 || !isPlain())
    return {.together = inFlight_};
  const std::optional<int64_t> rows = GroupShape::sizeOf(w_.shape.reducedAxes());
  if (!rows || !tile_->knownDown())
    return {.together = rows || hasShortElements() ? kOfOneInFlight : inFlight_, .halves = true};
  const uint64_t ofThread = llvm::divideCeil(uint64_t(*rows), uint64_t(*tile_->knownDown()));
  if (ofThread == 0 || ofThread > kFewOfThread)
    return {.together = inFlight_};
  const uint64_t steps = llvm::divideCeil(ofThread, uint64_t(kOfOneInFlight));
  return {.together = uint32_t(llvm::divideCeil(ofThread, steps)), .isEven = true};
}

void ColumnsWriter::setColumns(ArrayRef<RowSum> sums, ArrayRef<Value> totals) {
  for (const RowSum &sum : sums) {
    SmallVector<Value> finished;
    for (unsigned lane = 0; lane < lanes_; ++lane)
      finished.push_back(bodies_.finish(sum, tile_->column(), lane, totals[lane]));
    totals = totals.drop_front(lanes_);
    bodies_.setRow(sum, finished);
  }
}

void ColumnsWriter::storeResults(ArrayRef<RowSum> sums, ArrayRef<Value> totals) {
  Bodies::Scope scope(bodies_);
  setColumns(sums, totals);
  for (const KernelOp &op : w_.kernel.ops)
    if (w_.shape.group.isPerRow(op.op))
      bodies_.storeRow(op, tile_->column());
}

} // namespace

/// Whether a result that has an element for each of the group's knows what a reduction comes to.
static bool storesTotals(const KernelFunction &kernel, const GroupShape &shape) {
  return llvm::any_of(kernel.ops, [&](const KernelOp &op) {
    return linalg::GenericOp(op.op).getNumReductionLoops() == 0 && shape.group.coversAllAxes(op.op) &&
           llvm::any_of(op.outputs, [](const KernelOutput &output) { return output.isStored; }) &&
           llvm::any_of(op.op->getOperands(), [&](Value operand) { return shape.group.knowsReduction(operand); });
  });
}

std::optional<SmallVector<OnePassSum>> sumsOfOnePass(const KernelFunction &kernel, const GroupShape &shape) {
  const SmallVector<SmallVector<RowSum>> phases = phasesOf(kernel, shape.group);
  if (phases.size() == 1 && !readsAgain(kernel, shape))
    return SmallVector<OnePassSum>();
  if (phases.size() != 2 || storesTotals(kernel, shape))
    return std::nullopt;
  return onePassSums(kernel, shape, phases[0], phases[1]);
}

void writeColumns(Writer &writer) {
  ColumnsWriter(writer).run();
}

} // namespace tenon::compiler::codegen
