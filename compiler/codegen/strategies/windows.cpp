// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/windows.h"

#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kThreads = 256;
// Elements of a window that a thread loads before it combines them; a window of no more is straight-line code.
constexpr int64_t kInFlight = 9;
// Accumulators of a thread; of more results, each thread has fewer.
constexpr uint32_t kMostAccumulators = 32;
// Vectors of results that are worth two, or four, to a thread: with fewer threads a large device would rest.
constexpr int64_t kMostRun = 4;
constexpr int64_t kManyVectors = 400'000, kMostVectors = 1'000'000;

/// Runs of results along the axis before the last.
int64_t runsOf(const GroupShape &shape, int64_t run) {
  int64_t runs = 1;
  for (auto [number, axis] : llvm::enumerate(shape.parallelAxes()))
    runs *= number + 2 == shape.parallel ? int64_t(llvm::divideCeil(*axis.size, run)) : *axis.size;
  return runs;
}

/// Whether a thread may compute several results along the axis before the last: there is one, and sizes are known.
bool canRun(const GroupShape &shape) {
  return shape.parallel >= 2 && GroupShape::sizeOf(shape.parallelAxes()) &&
         shape.axes[shape.parallel - 2].axes.size() == 1;
}

/// How many results along the axis before the last a thread computes: with short windows, what it reads for one it has
/// for the next.
int64_t runFor(const GroupShape &shape, uint32_t width) {
  const std::optional<int64_t> window = GroupShape::sizeOf(shape.reducedAxes()),
                               results = GroupShape::sizeOf(shape.parallelAxes());
  if (!canRun(shape) || !window || *window > kInFlight)
    return 1;
  const int64_t vectors = *results / width, length = *shape.axes[shape.parallel - 2].size;
  return vectors >= kMostVectors && length >= 4 ? 4 : vectors >= kManyVectors && length >= 2 ? 2 : 1;
}

class WindowsWriter {
public:
  explicit WindowsWriter(Writer &w)
      : w_(w), k_(w.k), bodies_(w.bodies), width_(w.choice("width")), run_(canRun(w.shape) ? w.choice("run") : 1),
        parallel_(w.shape.parallel), sums_(phasesOf(w.kernel, w.shape.group).front()) {}

  void run();

private:
  using Values = SmallVector<Value>; // [results][sums][lanes]

  Value numbers();
  void placeResults(Value number);
  void writeFrom(Value number, unsigned width);
  Values walk();
  Values accumulate(Value first, int64_t count, ValueRange accumulators);
  void store(const Values &totals);
  void store(const Point &result, const Value *total);

  Writer &w_;
  KernelBuilder &k_;
  Bodies &bodies_;
  const uint32_t width_;
  const uint32_t run_; // results of a thread along the axis before the last, whose windows overlap
  const unsigned parallel_;
  const SmallVector<RowSum> sums_;
  unsigned lanes_ = 1;
  SmallVector<Point> results_; // positions on the parallel axes
};

/// Of results, or of runs of them.
Value WindowsWriter::numbers() {
  if (run_ == 1)
    return w_.space.size(0, parallel_);
  return k_.number(runsOf(w_.shape, run_));
}

void WindowsWriter::placeResults(Value number) {
  Point first;
  first.index.resize(w_.shape.axes.size(), k_.number(0));
  results_.assign(run_, first);
  if (run_ == 1) {
    w_.space.place(results_[0], 0, parallel_, number);
  } else {
    const unsigned along = parallel_ - 2, last = parallel_ - 1;
    const int64_t length = *w_.shape.axes[along].size;
    Value runs = k_.number(llvm::divideCeil(length, run_)), rest = k_.div(number, w_.space.size(last));
    Value begin = k_.mul(k_.rem(rest, runs), k_.number(run_));
    for (auto [i, result] : llvm::enumerate(results_)) {
      if (along > 0)
        w_.space.place(result, 0, along, k_.div(rest, runs));
      // Beyond the last there is the last once more, which is not stored.
      Value place = k_.add(begin, k_.number(int64_t(i)));
      result.index[along] = length % run_ == 0 ? place : k_.min(place, k_.number(length - 1));
      result.index[last] = k_.rem(number, w_.space.size(last));
    }
  }
  for (Point &result : results_)
    result.id = w_.space.newId();
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
  for (uint32_t result = 0; result < run_; ++result)
    for (const RowSum &sum : sums_)
      accumulators.append(lanes_, neutral(k_, sum.sum));
  if (const std::optional<int64_t> known = GroupShape::sizeOf(w_.shape.reducedAxes()); known && *known <= kInFlight)
    return accumulate(k_.number(0), *known, accumulators);
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
      finished.push_back(bodies_.finish(sum, result, lane, *total++));
    bodies_.setRow(sum, finished);
  }
  for (const KernelOp &op : w_.kernel.ops)
    if (w_.shape.group.isPerRow(op.op))
      bodies_.storeRow(op, result);
}

void WindowsWriter::store(const Values &totals) {
  const size_t each = totals.size() / results_.size();
  const bool mayEnd = run_ > 1 && *w_.shape.axes[parallel_ - 2].size % run_ != 0;
  for (auto [number, result] : llvm::enumerate(results_)) {
    auto storeOne = [&, i = number, at = &result] { store(*at, totals.begin() + i * each); };
    // The same place as that of the result before: beyond the end.
    if (mayEnd && number > 0)
      k_.when(k_.less(results_[number - 1].index[parallel_ - 2], result.index[parallel_ - 2]), storeOne);
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
  uint32_t width = shape.parallel == 0 ? 1 : vectorWidth(kernel, shape, shape.parallel - 1);
  while (width > 1 && width * phasesOf(kernel, shape.group).front().size() > kMostAccumulators)
    width /= 2;
  const int64_t run = runFor(shape, width);
  SmallVector<Extent> extents = extentsOf(shape.parallelAxes());
  if (run > 1)
    extents = {Extent{runsOf(shape, run), Value()}};
  return Plan{name(), kThreads, {{"width", width}, {"run", run}}, {{extents, int64_t(kThreads) * width}}};
}

bool Windows::takes(StringRef choice, int64_t value) const {
  return choice == "threads" ? value == kThreads : value <= kMostRun || choice != "run";
}

void Windows::write(Writer &writer) const {
  WindowsWriter(writer).run();
}

} // namespace tenon::compiler::codegen
