// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/rows_writer.h"

#include "compiler/codegen/kernel/one_pass.h"
#include "compiler/codegen/kernel/shared_vectors.h"
#include "compiler/codegen/strategies/ragged_rows.h"

#include <utility>

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Threads of a multiprocessor that rows of unknown length leave place for, with up to so many elements in each.
constexpr uint32_t kResidentThreads = 1024;
constexpr uint32_t kFewKept = 16;
// Vectors in flight for each thread where a row is read in a loop, and elements where much is computed of each.
constexpr uint32_t kInFlight = 4;
constexpr uint32_t kElementsInFlight = 16;

class RowsWriter {
public:
  explicit RowsWriter(Writer &w)
      : w_(w), k_(w.k), bodies_(w.bodies), lanes_(w.choice("lanes")), width_(w.choice("width")),
        blocks_(w.choice("blocks")), rows_(w.choice("rows")), chunks_(w.choice("chunks")), shared_(w.choice("shared")),
        phases_(phasesOf(w.kernel, w.shape.group)) {}

  void run();

private:
  /// Vectors of a row that are computed together, and which of them exist.
  struct Batch {
    SmallVector<Point> points;
    SmallVector<Value> exists; // null: it does
  };
  using Accumulators = SmallVector<Value>; // [sums of a phase][lanes of a vector]

  void writeRows();
  void writeRow(unsigned width);
  int64_t lanesOfRow() const { return int64_t(lanes_) * cluster_; }
  void placeRow(uint32_t number);
  void writeKeptRows();
  void writeSharedRow();
  void eachShared(const Batch *inShared, llvm::function_ref<void(const Batch &)> body);
  void writePhases(const Batch *kept, const Batch *inShared = nullptr);
  Point pointAt(Value vector);
  Batch keptBatch(uint32_t from, uint32_t vectors);
  Batch loopBatch(Value first, unsigned count);
  void preload(const Batch &batch);
  SmallVector<Sum> sumsOf(ArrayRef<RowSum> phase) const;
  Accumulators start(ArrayRef<RowSum> phase);
  Accumulators accumulate(ArrayRef<RowSum> phase, const Batch &batch, Accumulators accumulators);
  void finishPhase(ArrayRef<RowSum> phase, ArrayRef<Value> accumulators);
  void setTotals(ArrayRef<RowSum> phase, ArrayRef<Value> ofThread);
  void writeOnePass(ArrayRef<RowSum> phase, ArrayRef<OnePassSum> then);
  void storeBatch(const Batch &batch);
  SmallVector<Value> eachVector(ValueRange carried, llvm::function_ref<SmallVector<Value>(const Batch &, ValueRange)>,
                                uint32_t inFlight = kInFlight);

  Writer &w_;
  KernelBuilder &k_;
  Bodies &bodies_;
  const uint32_t lanes_, width_, blocks_, rows_;
  uint32_t chunks_, shared_;
  uint32_t cluster_ = 1; // blocks of a row
  Value rank_;           // of the block among them
  bool hasBegun_ = true; // every block of the cluster
  const SmallVector<SmallVector<RowSum>> phases_;
  unsigned lanesOfVector_ = 1;
  Point row_;     // positions on the parallel axes, of the row that is being computed
  Value hasRow_;  // whether it exists
  Value lane_;    // of the row
  Value vectors_; // of a row
  std::optional<int64_t> knownVectors_;
};

void RowsWriter::run() {
  w_.space.vectorAxis = w_.shape.axes.size() - 1;
  // Whether elements exist is a question to each where rows have any length: of registers it takes what it gets.
  if (chunks_ != 0 && chunks_ * width_ <= kFewKept && !GroupShape::sizeOf(w_.shape.reducedAxes()))
    k_.wantResident(kResidentThreads / k_.threads);
  if (blocks_ == 1) {
    if (shared_ != 0) // what a block keeps alone is in registers
      chunks_ = 0;
    return writeRows();
  }
  if (shared_ != 0)
    k_.wantResident(kResidentThreads / k_.threads);
  k_.requireClusters(blocks_);
  Value block = k_.block();
  rank_ = k_.rem(block, k_.number(blocks_));
  k_.branch(
      k_.hasClusters(),
      [&] {
        cluster_ = blocks_;
        writeRows();
      },
      [&] {
        cluster_ = 1;
        chunks_ = 0;
        k_.when(k_.equal(rank_, k_.number(0)), [&] { writeRows(); });
      });
}

void RowsWriter::writeRows() {
  lane_ = k_.rem(k_.thread(), k_.number(lanes_));
  if (cluster_ > 1)
    lane_ = k_.add(k_.mul(rank_, k_.number(lanes_)), lane_);
  if (width_ == 1)
    return writeRow(1);
  auto apart = [&] { writeRow(1); };
  auto ragged = [&] {
    if (!takesRaggedRows(w_))
      return apart();
    k_.branch(bodies_.areBasesAligned(width_), [&] { writeRaggedRows(w_); }, apart);
  };
  k_.branch(bodies_.isAligned(width_, /*needsWhole=*/true), [&] { writeRow(width_); }, ragged);
}

/// The thread's row of that number: a block takes rows_ times as many as it has groups of lanes.
void RowsWriter::placeRow(uint32_t number) {
  const unsigned parallel = w_.shape.parallel, axes = w_.shape.axes.size();
  const uint32_t groups = k_.threads / lanes_;
  Value row = k_.div(k_.block(), k_.number(blocks_));
  hasRow_ = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(true));
  if (groups * rows_ > 1) {
    Value rows = w_.space.size(0, parallel);
    row = k_.add(k_.mul(row, k_.number(groups * rows_)), k_.number(number * groups));
    row = k_.add(row, k_.div(k_.thread(), k_.number(lanes_)));
    hasRow_ = k_.less(row, rows);
    row = k_.min(row, k_.sub(rows, k_.number(1))); // all lanes of a warp take part in its shuffles
  }
  row_ = Point();
  w_.space.place(row_, 0, parallel, row);
  row_.index.resize(axes, k_.number(0));
  row_.id = w_.space.newId();
}

Point RowsWriter::pointAt(Value vector) {
  Point point = row_;
  w_.space.place(point, w_.shape.parallel, w_.shape.axes.size(), k_.mul(vector, k_.number(lanesOfVector_)));
  point.id = w_.space.newId();
  return point;
}

/// So many of the thread's vectors. Where it has no such vector it computes the last one, and nobody sees it.
RowsWriter::Batch RowsWriter::keptBatch(uint32_t from, uint32_t vectors) {
  Batch batch;
  // What is kept is few: 32 bits are enough to count it, and half the instructions.
  Type i32 = k_.b.getI32Type();
  auto narrow = [&](Value value) -> Value { return arith::TruncIOp::create(k_.b, k_.loc, i32, value); };
  Value lane = narrow(lane_), all = narrow(vectors_), last = narrow(k_.sub(vectors_, k_.number(1)));
  const uint32_t parts = width_ / lanesOfVector_; // of a vector where accesses are narrower
  for (uint32_t chunk = from * parts; chunk < (from + vectors) * parts; ++chunk) {
    const int64_t first = int64_t(chunk) * lanesOfRow();
    if (knownVectors_ && first >= *knownVectors_)
      break;
    Value vector = k_.add(lane, arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(int32_t(first))));
    const bool allExist = knownVectors_ && first + lanesOfRow() <= *knownVectors_;
    batch.exists.push_back(allExist ? Value() : k_.less(vector, all));
    if (!allExist)
      vector = k_.min(vector, last);
    batch.points.push_back(pointAt(arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(), vector)));
  }
  return batch;
}

RowsWriter::Batch RowsWriter::loopBatch(Value first, unsigned count) {
  Batch batch;
  for (unsigned i = 0; i < count; ++i) {
    batch.points.push_back(pointAt(k_.add(first, k_.number(int64_t(i) * lanesOfRow()))));
    batch.exists.push_back({});
  }
  preload(batch);
  return batch;
}

void RowsWriter::preload(const Batch &batch) {
  for (const Point &point : batch.points)
    bodies_.preload(point);
}

SmallVector<Sum> RowsWriter::sumsOf(ArrayRef<RowSum> phase) const {
  SmallVector<Sum> sums;
  for (const RowSum &sum : phase)
    sums.push_back(sum.sum);
  return sums;
}

RowsWriter::Accumulators RowsWriter::start(ArrayRef<RowSum> phase) {
  Accumulators accumulators;
  for (const RowSum &sum : phase)
    accumulators.append(lanesOfVector_, neutral(k_, sum.sum));
  return accumulators;
}

RowsWriter::Accumulators RowsWriter::accumulate(ArrayRef<RowSum> phase, const Batch &batch, Accumulators accumulators) {
  for (auto [point, exists] : llvm::zip_equal(batch.points, batch.exists)) {
    Value *accumulator = accumulators.begin();
    for (const RowSum &sum : phase) {
      for (unsigned lane = 0; lane < lanesOfVector_; ++lane, ++accumulator) {
        Value next = combine(k_, sum.sum, *accumulator, bodies_.contribution(sum, point, lane));
        *accumulator = exists ? k_.select(exists, next, *accumulator) : next;
      }
    }
  }
  return accumulators;
}

void RowsWriter::setTotals(ArrayRef<RowSum> phase, ArrayRef<Value> ofThread) {
  SmallVector<Value> totals = combineLanes(k_, sumsOf(phase), ofThread, lanes_);
  if (cluster_ > 1) {
    if (!std::exchange(hasBegun_, true))
      k_.waitForCluster();
    totals = combineBlocks(k_, sumsOf(phase), totals, cluster_, rank_);
  }
  for (auto [sum, total] : llvm::zip_equal(phase, totals))
    bodies_.setRow(sum, bodies_.finish(sum, row_, 0, total));
}

void RowsWriter::finishPhase(ArrayRef<RowSum> phase, ArrayRef<Value> accumulators) {
  SmallVector<Value> ofThread;
  for (const RowSum &sum : phase) {
    ofThread.push_back(combineAll(k_, sum.sum, accumulators.take_front(lanesOfVector_)));
    accumulators = accumulators.drop_front(lanesOfVector_);
  }
  setTotals(phase, ofThread);
}

/// A phase and the one behind it, in one pass over the row.
void RowsWriter::writeOnePass(ArrayRef<RowSum> phase, ArrayRef<OnePassSum> then) {
  // Carried: accumulators of each sum of the phase, then what each later sum keeps.
  Accumulators carried = start(phase);
  const size_t accumulators = carried.size();
  for (const OnePassSum &sum : then)
    llvm::append_range(carried, sum.start(k_));
  carried = eachVector(
      carried,
      [&](const Batch &batch, ValueRange values) {
        Accumulators next = accumulate(phase, batch, llvm::to_vector(values.take_front(accumulators)));
        values = values.drop_front(accumulators);
        for (const OnePassSum &sum : then) {
          SmallVector<Value> elements;
          for (const Point &point : batch.points)
            for (unsigned lane = 0; lane < lanesOfVector_; ++lane)
              elements.push_back(bodies_.contribution(sum.over, point, lane));
          const size_t size = sum.size();
          llvm::append_range(next, sum.join(k_, values.take_front(size), elements));
          values = values.drop_front(size);
        }
        return next;
      },
      std::clamp(kElementsInFlight / lanesOfVector_, 1u, kInFlight));
  finishPhase(phase, ArrayRef(carried).take_front(accumulators));
  ValueRange states = ValueRange(carried).drop_front(accumulators);
  SmallVector<RowSum> sums;
  SmallVector<Value> ofThread;
  for (const OnePassSum &sum : then) {
    const size_t size = sum.size();
    Value total = sum.finish(k_, states.take_front(size), sum.referenceOf(bodies_, row_));
    sums.push_back(sum.sum);
    ofThread.push_back(k_.select(k_.equal(vectors_, k_.number(0)), neutral(k_, sum.sum.sum), total));
    states = states.drop_front(size);
  }
  setTotals(sums, ofThread);
}

void RowsWriter::storeBatch(const Batch &batch) {
  for (auto [point, exists] : llvm::zip_equal(batch.points, batch.exists)) {
    // What is computed stays outside of the branch, so that vectors do not wait for each other.
    k_.when(exists ? k_.both(hasRow_, exists) : hasRow_, [&] {
      Bodies::Scope scope(bodies_);
      bodies_.storeElements(point);
    });
  }
}

/// Calls `body` for the vectors of the row, several at a time, then for the rest one by one.
SmallVector<Value> RowsWriter::eachVector(ValueRange carried,
                                          llvm::function_ref<SmallVector<Value>(const Batch &, ValueRange)> body,
                                          uint32_t inFlight) {
  auto step = [&](unsigned count) {
    return [&, count](Value first, ValueRange values) {
      Bodies::Scope scope(bodies_);
      return body(loopBatch(first, count), values);
    };
  };
  // Signed: a short row has no place for a whole batch.
  Value whole = k_.sub(vectors_, k_.number(lanesOfRow() * (inFlight - 1)));
  SmallVector<Value> after = {lane_};
  llvm::append_range(after, carried);
  after = k_.loop(lane_, whole, k_.number(lanesOfRow() * inFlight), after, [&](Value first, ValueRange values) {
    SmallVector<Value> next = {k_.add(first, k_.number(lanesOfRow() * inFlight))};
    llvm::append_range(next, step(inFlight)(first, values.drop_front()));
    return next;
  });
  return k_.loop(after.front(), vectors_, k_.number(lanesOfRow()), ValueRange(after).drop_front(), step(1));
}

void RowsWriter::writeRow(unsigned width) {
  Bodies::Scope scope(bodies_);
  lanesOfVector_ = width;
  bodies_.setWidth(width);
  hasBegun_ = cluster_ == 1;
  if (!hasBegun_)
    k_.arriveAtCluster();
  const unsigned parallel = w_.shape.parallel;
  vectors_ = k_.div(w_.space.size(parallel, w_.shape.axes.size()), k_.number(width));
  std::optional<int64_t> elements = GroupShape::sizeOf(w_.shape.reducedAxes());
  knownVectors_ = elements ? std::optional(*elements / width) : std::nullopt;

  if (chunks_ != 0 && shared_ != 0)
    return writeSharedRow();
  if (chunks_ != 0)
    return writeKeptRows();
  for (uint32_t number = 0; number < rows_; ++number) {
    placeRow(number);
    Bodies::Scope one(bodies_);
    writePhases(nullptr);
  }
}

/// Loads all rows of the thread, then computes one behind the other.
void RowsWriter::writeKeptRows() {
  struct Row {
    Point point;
    Value exists;
    Batch batch;
  };
  SmallVector<Row> rows;
  for (uint32_t number = 0; number < rows_; ++number) {
    placeRow(number);
    rows.push_back({row_, hasRow_, keptBatch(0, chunks_)});
    preload(rows.back().batch);
  }
  for (const Row &row : rows) {
    Bodies::Scope one(bodies_);
    row_ = row.point;
    hasRow_ = row.exists;
    writePhases(&row.batch);
  }
}

/// Calls `body` for each vector in shared memory; what is computed of it is not kept.
void RowsWriter::eachShared(const Batch *inShared, llvm::function_ref<void(const Batch &)> body) {
  if (!inShared)
    return;
  for (auto [point, exists] : llvm::zip_equal(inShared->points, inShared->exists)) {
    Bodies::Scope scope(bodies_);
    body({{point}, {exists}});
  }
}

/// Of a row that is in registers and shared memory. What is copied there is on its way while registers are loaded.
void RowsWriter::writeSharedRow() {
  placeRow(0);
  const Batch inShared = keptBatch(chunks_, shared_), kept = keptBatch(0, chunks_);
  SharedVectors vectors(k_, w_.kernel, w_.space, bodies_, inShared.points);
  vectors.bring();
  preload(kept);
  vectors.stage();
  writePhases(&kept, &inShared);
  bodies_.unstage();
}

/// @param kept the row, where it is in registers
/// @param inShared more of it, in shared memory
void RowsWriter::writePhases(const Batch *kept, const Batch *inShared) {
  for (size_t i = 0; i < phases_.size(); ++i) {
    const SmallVector<RowSum> &phase = phases_[i];
    if (!kept && i + 1 < phases_.size()) {
      if (auto then = onePassSums(w_.kernel, w_.shape, phase, phases_[i + 1])) {
        writeOnePass(phase, *then);
        ++i;
        continue;
      }
    }
    Accumulators accumulators = start(phase);
    accumulators = kept ? accumulate(phase, *kept, accumulators)
                        : eachVector(accumulators, [&](const Batch &batch, ValueRange values) {
                            return accumulate(phase, batch, llvm::to_vector(values));
                          });
    eachShared(inShared, [&](const Batch &one) { accumulators = accumulate(phase, one, accumulators); });
    finishPhase(phase, accumulators);
  }
  if (kept) {
    storeBatch(*kept);
    eachShared(inShared, [&](const Batch &one) { storeBatch(one); });
  } else if (storesElements(w_.kernel, w_.shape)) {
    eachVector({}, [&](const Batch &batch, ValueRange) {
      storeBatch(batch);
      return SmallVector<Value>();
    });
  }
  k_.when(k_.both(hasRow_, k_.equal(lane_, k_.number(0))), [&] {
    Bodies::Scope once(bodies_);
    for (const KernelOp &op : w_.kernel.ops)
      if (w_.shape.group.isPerRow(op.op))
        bodies_.storeRow(op, row_);
  });
}

} // namespace

void writeRows(Writer &writer) {
  RowsWriter(writer).run();
}

} // namespace tenon::compiler::codegen
