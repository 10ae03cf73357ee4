// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/rows.h"

#include "compiler/codegen/kernel/one_pass.h"

#include "llvm/Support/MathExtras.h"

#include <utility>

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kWarp = 32;
// Registers for the elements of a row that a thread keeps, over all tensors; of 1024 threads each has half as many.
constexpr uint32_t kMaxKept = 64;
// Vectors in flight for each thread where a row is read in a loop.
constexpr uint32_t kInFlight = 4;
// Of a block, where the length of a row is known only when the program runs.
constexpr uint32_t kThreads = 256;
// Of each block of a cluster, and what each of its threads keeps at most, over all tensors: three such blocks run on a
// multiprocessor at once, so that one loads while others compute.
constexpr uint32_t kClusterThreads = 512;
constexpr uint32_t kClusterKept = 32;
constexpr uint32_t kMostBlocks = 8; // of a cluster, on every target that has them
constexpr int64_t kAnyLength = INT64_MAX;

/// How a row is computed: by `lanes` threads of each of `blocks` blocks, each of which keeps `chunks` vectors in
/// registers; 0: it reads them again. Several blocks are a cluster; on a target without clusters the first of them
/// computes the row alone, and reads it again.
struct Path {
  int64_t longest = kAnyLength; // elements of a row
  uint32_t lanes = kThreads;
  uint32_t chunks = 0;
  uint32_t blocks = 1;
};

/// What a kernel needs of its rows.
struct Demand {
  uint32_t width;   // elements of a vector
  bool again;       // read once more when a reduction of them is known, or stored
  uint32_t tensors; // with an element for each of the row's
  bool onePass;     // it is enough to see each element once, anywhere

  uint32_t mostChunks(uint32_t threads) const {
    return std::max(1u, (threads > 512 ? kMaxKept / 2 : kMaxKept) / (width * std::max(1u, tensors)));
  }
};

/// Rows of any length: each path is for those that the one before it is too short for.
SmallVector<Path> pathsOfAnyLength(const Demand &demand) {
  if (!demand.again)
    return {{2 * demand.width, 1}, {16 * demand.width, 8}, {8 * kWarp * demand.width, kWarp}, {}};
  SmallVector<Path> paths;
  for (auto [lanes, chunks] :
       {std::pair(1u, 2u), {8u, 2u}, {kWarp, 1u}, {kWarp, 4u}, {kThreads, 2u}, {kThreads, 4u}, {kThreads, 8u}}) {
    const uint32_t kept = std::min(chunks, demand.mostChunks(kThreads));
    const int64_t longest = int64_t(lanes) * kept * demand.width;
    if (paths.empty() || longest > paths.back().longest)
      paths.push_back({longest, lanes, kept});
  }
  paths.push_back({});
  return paths;
}

uint32_t powerOfTwo(int64_t atLeast) {
  return uint32_t(llvm::PowerOf2Ceil(uint64_t(std::max<int64_t>(atLeast, 1))));
}

class RowsWriter {
public:
  explicit RowsWriter(Writer &w)
      : w_(w), k_(w.k), bodies_(w.bodies), lanes_(w.choice("lanes")), width_(w.choice("width")),
        blocks_(w.choice("blocks")), chunks_(w.choice("chunks")), phases_(phasesOf(w.kernel, w.shape.group)) {}

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
  Point pointAt(Value vector);
  Batch keptBatch();
  Batch loopBatch(Value first, unsigned count);
  SmallVector<Sum> sumsOf(ArrayRef<RowSum> phase) const;
  Accumulators start(ArrayRef<RowSum> phase);
  Accumulators accumulate(ArrayRef<RowSum> phase, const Batch &batch, Accumulators accumulators);
  void finishPhase(ArrayRef<RowSum> phase, ArrayRef<Value> accumulators);
  void setTotals(ArrayRef<RowSum> phase, ArrayRef<Value> ofThread);
  void writeOnePass(ArrayRef<RowSum> phase, ArrayRef<OnePassSum> then);
  void storeBatch(const Batch &batch);
  SmallVector<Value> eachVector(ValueRange carried, llvm::function_ref<SmallVector<Value>(const Batch &, ValueRange)>);

  Writer &w_;
  KernelBuilder &k_;
  Bodies &bodies_;
  const uint32_t lanes_, width_, blocks_;
  uint32_t chunks_;
  uint32_t cluster_ = 1; // blocks of a row
  Value rank_;           // of the block among them
  bool hasBegun_ = true; // every block of the cluster
  const SmallVector<SmallVector<RowSum>> phases_;
  unsigned lanesOfVector_ = 1;
  Point row_;     // positions on the parallel axes
  Value lane_;    // of the row
  Value hasRow_;  // whether the thread's row exists
  Value vectors_; // of a row
  std::optional<int64_t> knownVectors_;
};

void RowsWriter::run() {
  w_.space.vectorAxis = w_.shape.axes.size() - 1;
  if (blocks_ == 1)
    return writeRows();
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
  const unsigned parallel = w_.shape.parallel, axes = w_.shape.axes.size();
  Value rows = w_.space.size(0, parallel);
  Value thread = k_.thread();
  lane_ = k_.rem(thread, k_.number(lanes_));
  Value row = k_.div(k_.block(), k_.number(blocks_));
  hasRow_ = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(true));
  if (cluster_ > 1)
    lane_ = k_.add(k_.mul(rank_, k_.number(lanes_)), lane_);
  if (lanes_ < k_.threads) {
    row = k_.add(k_.mul(row, k_.number(k_.threads / lanes_)), k_.div(thread, k_.number(lanes_)));
    hasRow_ = k_.less(row, rows);
    row = k_.min(row, k_.sub(rows, k_.number(1))); // all lanes of a warp take part in its shuffles
  }
  row_ = Point();
  w_.space.place(row_, 0, parallel, row);
  row_.index.resize(axes, k_.number(0));
  row_.id = w_.space.newId();
  if (width_ == 1)
    return writeRow(1);
  k_.branch(bodies_.isAligned(width_, /*needsWhole=*/true), [&] { writeRow(width_); }, [&] { writeRow(1); });
}

Point RowsWriter::pointAt(Value vector) {
  Point point = row_;
  w_.space.place(point, w_.shape.parallel, w_.shape.axes.size(), k_.mul(vector, k_.number(lanesOfVector_)));
  point.id = w_.space.newId();
  return point;
}

/// The whole row. Where the thread has no such vector it computes the last one, and nobody sees it.
RowsWriter::Batch RowsWriter::keptBatch() {
  Batch batch;
  Value last = k_.sub(vectors_, k_.number(1));
  for (uint32_t chunk = 0, count = chunks_ * width_ / lanesOfVector_; chunk < count; ++chunk) {
    const int64_t first = int64_t(chunk) * lanesOfRow();
    if (knownVectors_ && first >= *knownVectors_)
      break;
    Value vector = k_.add(lane_, k_.number(first));
    const bool allExist = knownVectors_ && first + lanesOfRow() <= *knownVectors_;
    batch.exists.push_back(allExist ? Value() : k_.less(vector, vectors_));
    batch.points.push_back(pointAt(allExist ? vector : k_.min(vector, last)));
  }
  for (const Point &point : batch.points)
    bodies_.preload(point);
  return batch;
}

RowsWriter::Batch RowsWriter::loopBatch(Value first, unsigned count) {
  Batch batch;
  for (unsigned i = 0; i < count; ++i) {
    batch.points.push_back(pointAt(k_.add(first, k_.number(int64_t(i) * lanesOfRow()))));
    batch.exists.push_back({});
  }
  for (const Point &point : batch.points)
    bodies_.preload(point);
  return batch;
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
  carried = eachVector(carried, [&](const Batch &batch, ValueRange values) {
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
  });
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
                                          llvm::function_ref<SmallVector<Value>(const Batch &, ValueRange)> body) {
  auto step = [&](unsigned count) {
    return [&, count](Value first, ValueRange values) {
      Bodies::Scope scope(bodies_);
      return body(loopBatch(first, count), values);
    };
  };
  // Signed: a short row has no place for a whole batch.
  Value whole = k_.sub(vectors_, k_.number(lanesOfRow() * (kInFlight - 1)));
  SmallVector<Value> after = {lane_};
  llvm::append_range(after, carried);
  after = k_.loop(lane_, whole, k_.number(lanesOfRow() * kInFlight), after, [&](Value first, ValueRange values) {
    SmallVector<Value> next = {k_.add(first, k_.number(lanesOfRow() * kInFlight))};
    llvm::append_range(next, step(kInFlight)(first, values.drop_front()));
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

  const bool keeps = chunks_ != 0;
  Batch kept;
  if (keeps)
    kept = keptBatch();
  for (size_t i = 0; i < phases_.size(); ++i) {
    const SmallVector<RowSum> &phase = phases_[i];
    if (!keeps && i + 1 < phases_.size()) {
      if (auto then = onePassSums(w_.kernel, w_.shape, phase, phases_[i + 1])) {
        writeOnePass(phase, *then);
        ++i;
        continue;
      }
    }
    Accumulators accumulators = start(phase);
    accumulators = keeps ? accumulate(phase, kept, accumulators)
                         : eachVector(accumulators, [&](const Batch &batch, ValueRange values) {
                             return accumulate(phase, batch, llvm::to_vector(values));
                           });
    finishPhase(phase, accumulators);
  }
  if (keeps)
    storeBatch(kept);
  else if (storesElements(w_.kernel, w_.shape))
    eachVector({}, [&](const Batch &batch, ValueRange) {
      storeBatch(batch);
      return SmallVector<Value>();
    });
  k_.when(k_.both(hasRow_, k_.equal(lane_, k_.number(0))), [&] {
    Bodies::Scope once(bodies_);
    for (const KernelOp &op : w_.kernel.ops)
      if (w_.shape.group.isPerRow(op.op))
        bodies_.storeRow(op, row_);
  });
}

} // namespace

/// Whether the row is read once, wherever it is kept.
static bool takesOnePass(const KernelFunction &kernel, const GroupShape &shape) {
  const SmallVector<SmallVector<RowSum>> phases = phasesOf(kernel, shape.group);
  return !storesElements(kernel, shape) &&
         (phases.size() == 1 || (phases.size() == 2 && onePassSums(kernel, shape, phases[0], phases[1])));
}

static Demand demandOf(const KernelFunction &kernel, const GroupShape &shape) {
  return {vectorWidth(kernel, shape, shape.axes.size() - 1), readsAgain(kernel, shape) || storesElements(kernel, shape),
          fullInputs(kernel, shape), takesOnePass(kernel, shape)};
}

/// A cluster that keeps rows of so many vectors, if there is one.
static std::optional<std::pair<Path, uint32_t>> clusterOf(const Demand &demand, int64_t vectors) {
  for (uint32_t threads : {kClusterThreads, 2 * kClusterThreads}) {
    const int64_t most = std::max(1u, kClusterKept / (demand.width * std::max(1u, demand.tensors)));
    const int64_t blocks = powerOfTwo(llvm::divideCeil(vectors, most * threads));
    if (blocks > kMostBlocks)
      continue;
    const Path path = {.lanes = threads,
                       .chunks = uint32_t(llvm::divideCeil(vectors, blocks * threads)),
                       .blocks = std::max(2u, uint32_t(blocks))};
    return std::pair(path, threads);
  }
  return std::nullopt;
}

/// Rows of a known length: as few threads as have enough to do, as many as keep the row.
static std::pair<Path, uint32_t> pathOf(const Demand &demand, int64_t columns) {
  const int64_t vectors = llvm::divideCeil(std::max<int64_t>(columns, 1), demand.width);
  Path path;
  uint32_t threads = kThreads;
  if (vectors <= 4 * kWarp) {
    path.lanes = std::min(kWarp, powerOfTwo(vectors));
  } else if (!demand.again) {
    path.lanes = vectors <= 8 * kWarp ? kWarp : kThreads;
  } else {
    const int64_t each = std::min<int64_t>(std::clamp<int64_t>(demand.width / 2, 2, 4), demand.mostChunks(kThreads));
    threads = path.lanes = std::clamp(powerOfTwo(llvm::divideCeil(vectors, each)), 64u, 1024u);
  }
  const int64_t needed = llvm::divideCeil(vectors, path.lanes);
  if (!demand.again || columns <= 0)
    return {path, threads};
  if (needed <= demand.mostChunks(threads)) {
    path.chunks = needed;
    return {path, threads};
  }
  if (!demand.onePass)
    if (auto cluster = clusterOf(demand, vectors))
      return *cluster;
  if (path.lanes > kThreads) // it is read in a loop, where more threads gain nothing
    threads = path.lanes = kThreads;
  return {path, threads};
}

static Plan planOf(StringRef name, const GroupShape &shape, const Demand &demand, const Path &path, uint32_t threads) {
  return {name,
          threads,
          {{"lanes", path.lanes}, {"width", demand.width}, {"chunks", path.chunks}, {"blocks", path.blocks}},
          {{extentsOf(shape.parallelAxes()), threads / path.lanes}, {{Extent{.size = path.blocks, .value = {}}}, 1}}};
}

std::vector<Plan> Rows::plans(const KernelFunction &kernel, const GroupShape &shape) const {
  if (!hasCombiners(kernel, shape))
    return {};
  const Demand demand = demandOf(kernel, shape);
  if (std::optional<int64_t> columns = GroupShape::sizeOf(shape.reducedAxes())) {
    const auto [path, threads] = pathOf(demand, *columns);
    return {planOf(name(), shape, demand, path, threads)};
  }
  std::vector<Plan> plans;
  Guard guard{extentsOf(shape.reducedAxes())};
  for (const Path &path : pathsOfAnyLength(demand)) {
    const bool isLast = path.longest == kAnyLength; // it alone can do without an element
    guard.orEmpty = isLast;
    guard.most = isLast ? std::nullopt : std::optional(path.longest);
    plans.push_back(planOf(name(), shape, demand, path, kThreads));
    plans.back().guard = guard;
    guard.above = path.longest;
  }
  return plans;
}

std::optional<Plan> Rows::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  std::vector<Plan> all = plans(kernel, shape);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

void Rows::write(Writer &writer) const {
  RowsWriter(writer).run();
}

} // namespace tenon::compiler::codegen
