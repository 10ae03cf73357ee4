// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/windows.h"

#include "compiler/dispatch/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kThreads = 256;
// Elements of a window that a thread loads before it combines them; a window of no more is straight-line code.
constexpr int64_t kInFlight = 9;
// Accumulators of a thread; of more results, each thread has fewer.
constexpr uint32_t kMostAccumulators = 32;

class WindowsWriter {
public:
  explicit WindowsWriter(Writer &w)
      : w_(w), k_(w.k), bodies_(w.bodies), width_(w.choice("width")), parallel_(w.shape.parallel),
        sums_(phasesOf(w.kernel, w.shape.group).front()) {}

  void run();

private:
  using Values = SmallVector<Value>; // [sums][lanes]

  void writeFrom(Value first, unsigned width);
  Values walk();
  Values accumulate(Value first, int64_t count, ValueRange accumulators);
  void store(const Values &totals);

  Writer &w_;
  KernelBuilder &k_;
  Bodies &bodies_;
  const uint32_t width_;
  const unsigned parallel_;
  const SmallVector<RowSum> sums_;
  unsigned lanes_ = 1;
  Point result_; // positions on the parallel axes
};

void WindowsWriter::run() {
  w_.space.vectorAxis = parallel_ == 0 ? 0 : parallel_ - 1;
  Value results = w_.space.size(0, parallel_);
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

void WindowsWriter::writeFrom(Value first, unsigned width) {
  Bodies::Scope scope(bodies_);
  lanes_ = width;
  bodies_.setWidth(width);
  result_ = Point();
  result_.index.resize(w_.shape.axes.size(), k_.number(0));
  w_.space.place(result_, 0, parallel_, first);
  result_.id = w_.space.newId();
  store(walk());
}

WindowsWriter::Values WindowsWriter::accumulate(Value first, int64_t count, ValueRange accumulators) {
  Bodies::Scope scope(bodies_);
  SmallVector<Point> points;
  for (int64_t i = 0; i < count; ++i) {
    Point point = result_;
    w_.space.place(point, parallel_, w_.shape.axes.size(), k_.add(first, k_.number(i)));
    point.id = w_.space.newId();
    points.push_back(point);
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
  for (const Values &values : contributed) {
    size_t number = 0;
    for (const RowSum &sum : sums_)
      for (unsigned lane = 0; lane < lanes_; ++lane, ++number)
        next[number] = combine(k_, sum.sum, next[number], values[number]);
  }
  return next;
}

/// The elements of a window in order, several at a time, then the rest one by one.
WindowsWriter::Values WindowsWriter::walk() {
  Values accumulators;
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

void WindowsWriter::store(const Values &totals) {
  const Value *total = totals.begin();
  for (const RowSum &sum : sums_) {
    Values finished;
    for (unsigned lane = 0; lane < lanes_; ++lane)
      finished.push_back(bodies_.finish(sum, result_, lane, *total++));
    bodies_.setRow(sum, finished);
  }
  for (const KernelOp &op : w_.kernel.ops)
    if (w_.shape.group.isPerRow(op.op))
      bodies_.storeRow(op, result_);
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
  return Plan{name(), kThreads, {{"width", width}}, {{extentsOf(shape.parallelAxes()), int64_t(kThreads) * width}}};
}

void Windows::write(Writer &writer) const {
  WindowsWriter(writer).run();
}

} // namespace tenon::compiler::codegen
