// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/rows/rows_writer.h"

#include "compiler/codegen/kernel/bodies/early_reads.h"
#include "compiler/codegen/kernel/bodies/one_pass.h"
#include "compiler/codegen/kernel/bodies/shared_vectors.h"
#include "compiler/codegen/strategies/rows/kept_terms.h"
#include "compiler/codegen/strategies/rows/ragged_rows.h"
#include "compiler/codegen/strategies/rows/row_parts.h"
#include "compiler/codegen/strategies/rows/row_sums.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Threads of a multiprocessor that rows of unknown length leave place for, with up to so many elements in each. Narrow
// ones have more on their way so; what spills then are conditions of rows that are no multiple of a vector (an H200,
// of unknown length: softmax 1048576 x 128 bf16 136 -> 127 us, layernorm 65536 x 1000 bf16 74.1 -> 68.4).
constexpr uint32_t kResidentThreads = 1024, kResidentOfNarrow = 1280;
constexpr unsigned kNarrowVector = 8;
constexpr uint32_t kFewKept = 16;
// Vectors in flight for each thread where a row is read in a loop, and elements where much is computed of each.
constexpr uint32_t kInFlight = 4;
constexpr uint32_t kElementsInFlight = 16;
// Of an element that is seen once, so that a branch around those that do not exist costs less.
constexpr uint32_t kSkippedWork = 16;

class RowsWriter {
public:
  explicit RowsWriter(Writer &w)
      : w_(w), k_(w.k), bodies_(w.bodies), lanes_(w.choice("lanes")), width_(w.choice("width")),
        blocks_(w.choice("blocks")), rows_(w.choice("rows")), chunks_(w.choice("chunks")), shared_(w.choice("shared")),
        parts_(w.choiceOr("parts", 0)), hasAnyLength_(!GroupShape::sizeOf(w.shape.reducedAxes())),
        phases_(phasesOf(w.kernel, w.shape.group)),
        skipsVectors_(phases_.size() == 1 && !storesElements(w.kernel, w.shape) && workOf(w.kernel) > kSkippedWork),
        vectors_(w, lanes_, blocks_, rows_), reads_(w.bodies, w.kernel, w.shape),
        sums_(w.k, w.bodies, reads_, lanes_, skipsVectors_) {}

  void run();

private:
  using Accumulators = RowSums::Accumulators;
  using VectorBody = llvm::function_ref<SmallVector<Value>(const RowBatch &, ValueRange)>;
  /// What of a row is not read in a loop.
  struct Parts {
    const RowBatch *kept = nullptr;    // in registers; null: the row is read in loops
    SharedVectors *inShared = nullptr; // more of it, in shared memory, which is run through in loops, too
    const RowBatch *edges = nullptr;   // outside of vectors, element by element
  };

  void writeRows();
  void writeRow(unsigned width, bool isRagged = false, std::optional<int64_t> vectors = std::nullopt);
  void writeWholeVectors();
  void writeKeptRows();
  void writeLoopedRows();
  void writeSharedRow();
  SmallVector<Value> eachShared(SharedVectors &vectors, ValueRange carried, VectorBody body);
  void putTerms(SharedVectors &vectors, const RowSum &sum, const Point &point);
  void eachEdge(const RowBatch *edges, llvm::function_ref<void(const RowBatch &)> body);
  void writePhases(const Parts &parts);
  void preload(const RowBatch &batch);
  void preloadReads(const RowBatch &batch);
  RowBatch loadEdges();
  void joinEdges(ArrayRef<RowSum> phase, const RowBatch *edges, Accumulators &accumulators);
  void writeOnePass(ArrayRef<RowSum> phase, ArrayRef<OnePassSum> then, const RowBatch *edges);
  void storeBatch(const RowBatch &batch);
  SmallVector<Value> eachVector(ValueRange carried, VectorBody body, uint32_t inFlight = kInFlight);
  const Row &row() const { return vectors_.row(); }
  /// Of several reduced axes elements may go one by one, and of one that some tensor has a part of positions are
  /// divided: both take registers.
  bool isNarrow() const {
    return width_ >= kNarrowVector && w_.shape.reducedAxes().size() == 1 &&
           w_.shape.reducedAxes().front().prefixes.empty();
  }
  /// Of all tensors, by a thread.
  uint32_t elementsKept() const { return (chunks_ + shared_) * width_ * std::max(1u, fullInputs(w_.kernel, w_.shape)); }

  Writer &w_;
  KernelBuilder &k_;
  Bodies &bodies_;
  const uint32_t lanes_, width_, blocks_, rows_;
  uint32_t chunks_, shared_;
  const uint32_t parts_;    // of a row, each of a block that leaves its sums; 0: blocks add them up, or there is one
  const bool hasAnyLength_; // rows
  uint32_t cluster_ = 1;    // blocks of a row
  Value rank_;              // of the block among them
  const SmallVector<SmallVector<RowSum>> phases_;
  const bool skipsVectors_; // that do not exist; else they are computed, and nobody sees it
  RowVectors vectors_;
  EarlyReads reads_;
  RowSums sums_;
};

void RowsWriter::run() {
  w_.space.vectorAxis = w_.shape.axes.size() - 1;
  if (parts_ != 0) {
    rank_ = k_.rem(k_.block(), k_.number(blocks_));
    cluster_ = blocks_;
    return writeRows();
  }
  // Whether elements exist is a question to each where rows have any length: of registers it takes what it gets.
  if (chunks_ != 0 && hasAnyLength_ && elementsKept() <= kFewKept)
    k_.wantResident((isNarrow() ? kResidentOfNarrow : kResidentThreads) / k_.threads);
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
  vectors_.setCluster(cluster_, rank_);
  if (width_ == 1)
    return writeRow(1);
  auto apart = [&] { writeRow(1); };
  auto ragged = [&] {
    if (takesRaggedRows(w_))
      return k_.branch(bodies_.areBasesAligned(width_), [&] { writeRaggedRows(w_); }, apart);
    if (Value condition = canBeRagged(w_))
      return k_.branch(condition, [&] { writeRow(width_, /*isRagged=*/true); }, apart);
    apart();
  };
  auto whole = [&] {
    Value areWhole = bodies_.areWholeParts(width_);
    if (!areWhole)
      return writeWholeVectors();
    auto write = [&](bool are) {
      bodies_.setWholeParts(are);
      writeWholeVectors();
      bodies_.setWholeParts(false);
    };
    k_.branch(areWhole, [&] { write(true); }, [&] { write(false); });
  };
  k_.branch(bodies_.isAligned(width_, /*needsWhole=*/true), whole, ragged);
}

/// Of rows of any length, those that give every thread all vectors it has place for need no conditions for them, which
/// are a fifth of the instructions.
void RowsWriter::writeWholeVectors() {
  if (!hasAnyLength_ || chunks_ < 2 || shared_ != 0 || w_.shape.reducedAxes().size() != 1)
    return writeRow(width_);
  const int64_t vectors = int64_t(chunks_) * vectors_.lanesOfRow();
  Value columns = w_.space.size(w_.shape.parallel, w_.shape.axes.size());
  k_.branch(
      k_.equal(columns, k_.number(vectors * width_)), [&] { writeRow(width_, /*isRagged=*/false, vectors); },
      [&] { writeRow(width_); });
}

void RowsWriter::preload(const RowBatch &batch) {
  for (const Point &point : batch.points)
    bodies_.preload(point);
}

/// Where elements go one by one: vectors have code for lanes that do not read alike, which takes the registers. What
/// does not exist is not read where it is skipped.
void RowsWriter::preloadReads(const RowBatch &batch) {
  if (sums_.width() == 1 && !skipsVectors_)
    reads_.read(batch.points);
}

/// Edges go to the first lane of vectors.
void RowsWriter::joinEdges(ArrayRef<RowSum> phase, const RowBatch *edges, Accumulators &accumulators) {
  eachEdge(edges, [&](const RowBatch &batch) {
    const size_t lanes = accumulators.size() / phase.size();
    Accumulators first;
    for (size_t sum = 0; sum < phase.size(); ++sum)
      first.push_back(accumulators[sum * lanes]);
    for (auto [sum, value] : llvm::enumerate(sums_.accumulate(phase, batch, first)))
      accumulators[sum * lanes] = value;
  });
}

/// A phase and the one behind it, in one pass over the row.
void RowsWriter::writeOnePass(ArrayRef<RowSum> phase, ArrayRef<OnePassSum> then, const RowBatch *edges) {
  // Carried: accumulators of each sum of the phase, then what each later sum keeps.
  Accumulators carried = sums_.start(phase);
  const size_t accumulators = carried.size();
  for (const OnePassSum &sum : then)
    llvm::append_range(carried, sum.start(k_));
  auto join = [&](ArrayRef<Point> points, ValueRange states) {
    SmallVector<Value> next;
    for (const OnePassSum &sum : then) {
      SmallVector<Value> elements;
      for (const Point &point : points)
        for (unsigned lane = 0; lane < sums_.width(); ++lane)
          elements.push_back(bodies_.contribution(sum.over, point, lane));
      const size_t size = sum.size();
      llvm::append_range(next, sum.join(k_, states.take_front(size), elements));
      states = states.drop_front(size);
    }
    return next;
  };
  carried = eachVector(
      carried,
      [&](const RowBatch &batch, ValueRange values) {
        Accumulators next = sums_.accumulate(phase, batch, llvm::to_vector(values.take_front(accumulators)));
        llvm::append_range(next, join(batch.points, values.drop_front(accumulators)));
        return next;
      },
      std::clamp(kElementsInFlight / sums_.width(), 1u, kInFlight));
  SmallVector<Value> states(ArrayRef(carried).drop_front(accumulators));
  carried.truncate(accumulators);
  joinEdges(phase, edges, carried);
  eachEdge(edges, [&](const RowBatch &batch) {
    for (auto [point, exists] : llvm::zip_equal(batch.points, batch.exists))
      for (auto [state, next] : llvm::zip_equal(states, join(point, states)))
        state = k_.select(exists, next, state);
  });
  sums_.finish(phase, carried, row().point);
  SmallVector<RowSum> sums;
  SmallVector<Value> ofThread;
  Value isEmpty = k_.equal(w_.space.size(w_.shape.parallel, w_.shape.axes.size()), k_.number(0));
  ValueRange rest = states;
  for (const OnePassSum &sum : then) {
    const size_t size = sum.size();
    Value total = sum.finish(k_, rest.take_front(size), sum.referenceOf(bodies_, row().point));
    sums.push_back(sum.sum);
    ofThread.push_back(k_.select(isEmpty, neutral(k_, sum.sum.sum), total));
    rest = rest.drop_front(size);
  }
  sums_.setTotals(sums, ofThread, row().point);
}

void RowsWriter::storeBatch(const RowBatch &batch) {
  for (auto [point, exists] : llvm::zip_equal(batch.points, batch.exists)) {
    // What is computed stays outside of the branch, so that vectors do not wait for each other.
    k_.when(exists ? k_.both(row().exists, exists) : row().exists, [&] {
      Bodies::Scope scope(bodies_);
      bodies_.storeElements(point);
    });
  }
}

/// Calls `body` for the vectors of the row, several at a time, then for the rest one by one.
SmallVector<Value> RowsWriter::eachVector(ValueRange carried, VectorBody body, uint32_t inFlight) {
  auto step = [&](unsigned count) {
    return [&, count](Value first, ValueRange values) {
      Bodies::Scope scope(bodies_);
      const RowBatch batch = vectors_.following(first, count);
      preload(batch);
      preloadReads(batch);
      return body(batch, values);
    };
  };
  // Signed: a short row has no place for a whole batch.
  Value whole = k_.sub(row().vectors, k_.number(vectors_.lanesOfRow() * (inFlight - 1)));
  SmallVector<Value> after = {vectors_.lane()};
  llvm::append_range(after, carried);
  after = k_.loop(vectors_.lane(), whole, k_.number(vectors_.lanesOfRow() * inFlight), after,
                  [&](Value first, ValueRange values) {
                    SmallVector<Value> next = {k_.add(first, k_.number(vectors_.lanesOfRow() * inFlight))};
                    llvm::append_range(next, step(inFlight)(first, values.drop_front()));
                    return next;
                  });
  return k_.loop(after.front(), row().vectors, k_.number(vectors_.lanesOfRow()), ValueRange(after).drop_front(),
                 step(1));
}

void RowsWriter::writeRow(unsigned width, bool isRagged, std::optional<int64_t> vectors) {
  Bodies::Scope scope(bodies_);
  sums_.setWidth(width);
  bodies_.setWidth(width);
  bodies_.setRagged(isRagged ? raggedOrder(w_, lanes_, width) : std::nullopt);
  vectors_.setWidth(width, width_, isRagged, vectors);
  sums_.begin(parts_ != 0 ? 1 : cluster_, rank_);
  // Elements one by one take registers for conditions, too: of rows of any length, only few of them are kept so. Those
  // of a cluster would be a hundred in each thread.
  const bool areTooMany = shared_ != 0 || (hasAnyLength_ && elementsKept() > kFewKept);
  const bool isKept = chunks_ != 0 && !(width < width_ && areTooMany);
  if (isKept && shared_ != 0)
    writeSharedRow();
  else if (isKept)
    writeKeptRows();
  else
    writeLoopedRows();
  bodies_.setRagged(std::nullopt);
}

void RowsWriter::writeLoopedRows() {
  for (uint32_t number = 0; number < rows_; ++number) {
    vectors_.setRow(vectors_.rowOf(number));
    Bodies::Scope one(bodies_);
    const RowBatch edges = loadEdges();
    writePhases({.edges = &edges});
  }
}

/// Loads all rows of the thread, then computes one behind the other.
void RowsWriter::writeKeptRows() {
  struct KeptRow {
    Row row;
    RowBatch batch, edges;
  };
  std::vector<KeptRow> rows;
  for (uint32_t number = 0; number < rows_; ++number) {
    vectors_.setRow(vectors_.rowOf(number));
    rows.push_back({row(), vectors_.kept(0, chunks_), {}});
    preload(rows.back().batch);
    if (phases_.size() == 1 && !storesElements(w_.kernel, w_.shape)) // else registers have the row
      preloadReads(rows.back().batch);
    rows.back().edges = loadEdges();
  }
  for (const KeptRow &each : rows) {
    Bodies::Scope one(bodies_);
    vectors_.setRow(each.row);
    writePhases({.kept = &each.batch, .edges = &each.edges});
  }
}

/// Calls `body` for each of the thread's vectors that are in shared memory. In a loop, however many they are known to
/// be: one behind the other, their addresses and what is computed of them take more registers than there are (an H200,
/// softmax 8192 x 131072 bf16: 1550 -> 1090 us; two or four at a time are no faster).
SmallVector<Value> RowsWriter::eachShared(SharedVectors &vectors, ValueRange carried, VectorBody body) {
  SmallVector<Value> all = {k_.number(0)};
  llvm::append_range(all, carried);
  Value lanes = k_.number(vectors_.lanesOfRow());
  all = k_.loop(k_.add(vectors_.lane(), k_.number(chunks_ * vectors_.lanesOfRow())), row().vectors, lanes, all,
                [&](Value vector, ValueRange values) {
                  Bodies::Scope scope(bodies_);
                  const RowBatch one = vectors_.following(vector, 1);
                  vectors.find(one.points.front(), values.front());
                  SmallVector<Value> next = {k_.add(values.front(), k_.number(1))};
                  llvm::append_range(next, body(one, values.drop_front()));
                  return next;
                });
  all.erase(all.begin());
  return all;
}

/// Calls `body` for all edges, with vectors of one element.
void RowsWriter::eachEdge(const RowBatch *edges, llvm::function_ref<void(const RowBatch &)> body) {
  if (!edges || edges->points.empty())
    return;
  const unsigned lanes = sums_.width();
  sums_.setWidth(1);
  bodies_.setWidth(1);
  body(*edges);
  sums_.setWidth(lanes);
  bodies_.setWidth(lanes);
}

RowBatch RowsWriter::loadEdges() {
  RowBatch edges = vectors_.edges();
  eachEdge(&edges, [&](const RowBatch &batch) { preload(batch); });
  return edges;
}

/// Of a row that is in registers and shared memory. What is copied there is on its way while registers are loaded.
void RowsWriter::writeSharedRow() {
  vectors_.setRow(vectors_.rowOf(0));
  SharedVectors shared(k_, w_.kernel, w_.space, bodies_, shared_);
  const RowBatch kept = vectors_.kept(0, chunks_);
  eachShared(shared, {}, [&](const RowBatch &one, ValueRange) {
    shared.bring(one.points.front());
    return SmallVector<Value>();
  });
  shared.commit();
  preload(kept);
  const RowBatch edges = loadEdges();
  shared.stage();
  writePhases({.kept = &kept, .inShared = &shared, .edges = &edges});
  bodies_.unstage();
}

/// What a vector adds to the last sum takes its place (kept_terms.h).
void RowsWriter::putTerms(SharedVectors &vectors, const RowSum &sum, const Point &point) {
  SmallVector<Value> lanes;
  for (unsigned lane = 0; lane < sums_.width(); ++lane)
    lanes.push_back(bodies_.contribution(sum, point, lane));
  vectors.put(point, lanes);
}

void RowsWriter::writePhases(const Parts &parts) {
  const RowBatch *kept = parts.kept;
  const SmallVector<Value> terms =
      parts.inShared && !phases_.empty() ? keptTermsOf(w_.kernel, w_.shape, phases_.back()) : SmallVector<Value>();
  for (size_t i = 0; i < phases_.size(); ++i) {
    const SmallVector<RowSum> &phase = phases_[i];
    if (!kept && i + 1 < phases_.size()) {
      if (auto then = onePassSums(w_.kernel, w_.shape, phase, phases_[i + 1])) {
        writeOnePass(phase, *then, parts.edges);
        ++i;
        continue;
      }
    }
    Accumulators accumulators = sums_.start(phase);
    accumulators = kept ? sums_.accumulate(phase, *kept, accumulators)
                        : eachVector(accumulators, [&](const RowBatch &batch, ValueRange values) {
                            return sums_.accumulate(phase, batch, llvm::to_vector(values));
                          });
    if (parts.inShared)
      accumulators = eachShared(*parts.inShared, accumulators, [&](const RowBatch &one, ValueRange values) {
        Accumulators next = sums_.accumulate(phase, one, llvm::to_vector(values));
        if (i + 1 == phases_.size() && !terms.empty())
          putTerms(*parts.inShared, phase.front(), one.points.front());
        return next;
      });
    joinEdges(phase, parts.edges, accumulators);
    if (parts_ != 0)
      return leavePart(w_, phase, sums_.ofBlock(phase, accumulators));
    sums_.finish(phase, accumulators, row().point);
  }
  if (kept) {
    storeBatch(*kept);
    if (parts.inShared)
      eachShared(*parts.inShared, {}, [&](const RowBatch &one, ValueRange) {
        if (!terms.empty()) {
          const SmallVector<Value> lanes = parts.inShared->lanesAt(one.points.front());
          for (Value term : terms)
            bodies_.assumeLanes(term, lanes);
        }
        storeBatch(one);
        bodies_.assumeNothing();
        return SmallVector<Value>();
      });
  } else if (storesElements(w_.kernel, w_.shape)) {
    eachVector({}, [&](const RowBatch &batch, ValueRange) {
      storeBatch(batch);
      return SmallVector<Value>();
    });
  }
  if (storesElements(w_.kernel, w_.shape))
    eachEdge(parts.edges, [&](const RowBatch &edges) { storeBatch(edges); });
  k_.when(k_.both(row().exists, k_.equal(vectors_.lane(), k_.number(0))), [&] {
    Bodies::Scope once(bodies_);
    for (const KernelOp &op : w_.kernel.ops)
      if (w_.shape.group.isPerRow(op.op))
        bodies_.storeRow(op, row().point);
  });
}

} // namespace

void writeRows(Writer &writer) {
  if (writer.choiceOr("total", 0) != 0)
    return writeTotals(writer);
  RowsWriter(writer).run();
}

} // namespace tenon::compiler::codegen
