// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/rows/ragged_rows.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Vectors of a thread, all on their way together.
constexpr int64_t kMostVectors = 8;

/// The vectors of a row that a thread has, at most.
int64_t vectorsOfThread(const Writer &w) {
  const int64_t columns = *GroupShape::sizeOf(w.shape.reducedAxes());
  return int64_t(llvm::divideCeil(uint64_t(columns / w.choice("width")), uint64_t(w.choice("lanes"))));
}

class RaggedRowsWriter {
public:
  explicit RaggedRowsWriter(Writer &w)
      : w_(w), k_(w.k), bodies_(w.bodies), lanes_(w.choice("lanes")), width_(w.choice("width")),
        columns_(*GroupShape::sizeOf(w.shape.reducedAxes())), sums_(phasesOf(w.kernel, w.shape.group).front()) {}

  void run() {
    Bodies::Scope scope(bodies_);
    lane_ = k_.rem(k_.thread(), k_.number(lanes_));
    placeRow();
    findVectors();
    const SmallVector<Point> vectors = load();
    bodies_.setWidth(1);
    const Point edge = loadEdge();
    SmallVector<Value> ofThread = ofEdge(edge);
    bodies_.setWidth(width_);
    ofThread = combinedWith(vectors, ofThread);
    SmallVector<Sum> sums;
    for (const RowSum &sum : sums_)
      sums.push_back(sum.sum);
    for (auto [sum, total] : llvm::zip_equal(sums_, combineLanes(k_, sums, ofThread, lanes_)))
      bodies_.setRow(sum, bodies_.finish(sum, row_, 0, total));
    k_.when(k_.both(hasRow_, k_.equal(lane_, k_.number(0))), [&] {
      Bodies::Scope once(bodies_);
      for (const KernelOp &op : w_.kernel.ops)
        if (w_.shape.group.isPerRow(op.op))
          bodies_.storeRow(op, row_);
    });
  }

private:
  void placeRow() {
    const unsigned parallel = w_.shape.parallel;
    const int64_t groups = k_.threads / lanes_;
    Value rows = w_.space.size(0, parallel);
    Value row = k_.add(k_.mul(k_.block(), k_.number(groups)), k_.div(k_.thread(), k_.number(lanes_)));
    hasRow_ = k_.less(row, rows);
    // All lanes of a warp take part in its shuffles.
    w_.space.place(row_, 0, parallel, k_.min(row, k_.sub(rows, k_.number(1))));
    row_.index.back() = k_.number(0);
    row_.id = w_.space.newId();
  }

  Point pointAt(Value column) {
    Point point = row_;
    point.index.back() = column;
    point.id = w_.space.newId();
    return point;
  }

  /// Where whole vectors begin in the row, and how many there are.
  void findVectors() {
    const ElementInput input = elementInputs(w_.kernel, w_.shape).front();
    Value start = k_.rem(w_.space.element(*input.tensor, input.op->op, row_, 0), k_.number(width_));
    front_ = k_.rem(k_.sub(k_.number(width_), start), k_.number(width_));
    Value rest = k_.sub(k_.number(columns_), front_);
    vectors_ = k_.div(rest, k_.number(width_));
    edges_ = k_.add(front_, k_.rem(rest, k_.number(width_)));
  }

  /// Where the thread has no such vector it loads the last one, and nobody sees it.
  SmallVector<Point> load() {
    bodies_.setWidth(width_);
    SmallVector<Point> points;
    for (int64_t i = 0, count = vectorsOfThread(w_); i < count; ++i) {
      Value vector = k_.add(lane_, k_.number(i * lanes_));
      exists_.push_back(k_.less(vector, vectors_));
      vector = k_.min(vector, k_.sub(vectors_, k_.number(1)));
      points.push_back(pointAt(k_.add(front_, k_.mul(vector, k_.number(width_)))));
      bodies_.preload(points.back());
    }
    return points;
  }

  Point loadEdge() {
    hasEdge_ = k_.less(lane_, edges_);
    Value behind = k_.add(k_.sub(k_.number(columns_), edges_), lane_);
    Value column = k_.select(k_.less(lane_, front_), lane_, behind);
    const Point point = pointAt(k_.select(hasEdge_, column, k_.number(0)));
    bodies_.preload(point);
    return point;
  }

  SmallVector<Value> ofEdge(const Point &edge) {
    SmallVector<Value> values;
    for (const RowSum &sum : sums_) {
      Value none = neutral(k_, sum.sum);
      values.push_back(k_.select(hasEdge_, combine(k_, sum.sum, none, bodies_.contribution(sum, edge, 0)), none));
    }
    return values;
  }

  /// One value for each sum: of all lanes of the thread's vectors, and of its edge.
  SmallVector<Value> combinedWith(ArrayRef<Point> points, ArrayRef<Value> edge) {
    SmallVector<Value> totals;
    for (auto [sum, first] : llvm::zip_equal(sums_, edge)) {
      SmallVector<Value> lanes(width_, neutral(k_, sum.sum));
      lanes.front() = first;
      for (auto [point, exists] : llvm::zip_equal(points, exists_))
        for (auto [lane, value] : llvm::enumerate(lanes))
          value = k_.select(exists, combine(k_, sum.sum, value, bodies_.contribution(sum, point, lane)), value);
      totals.push_back(combineAll(k_, sum.sum, lanes));
    }
    return totals;
  }

  Writer &w_;
  KernelBuilder &k_;
  Bodies &bodies_;
  const int64_t lanes_, width_, columns_;
  const SmallVector<RowSum> sums_;
  Value lane_;                    // of the row
  Point row_;                     // positions on the parallel axes
  Value hasRow_;                  // whether it exists
  Value front_, vectors_, edges_; // elements in front of the first vector, vectors, elements outside of them
  SmallVector<Value> exists_;     // of the thread's vectors
  Value hasEdge_;
};

/// Whether every tensor that has elements along the row has those of the whole matrix, in the same order.
bool areOfOneOrder(const Writer &w) {
  AffineMap map;
  const unsigned row = w.shape.axes.size() - 1;
  for (const KernelOp &op : w.kernel.ops)
    for (const KernelInput &input : op.inputs) {
      if (!input.isMemory() || input.bodyArgument.use_empty())
        continue;
      const GroupShape::Along along = w.shape.along(input.tensor, op.op, row);
      if (along == GroupShape::Along::Same)
        continue;
      AffineMap here = w.shape.mapOf(input.tensor, op.op);
      if (along != GroupShape::Along::Adjacent || !here.isPermutation() || (map && map != here))
        return false;
      map = here;
    }
  return bool(map);
}

} // namespace

bool takesRaggedRows(const Writer &w) {
  const std::optional<int64_t> columns = GroupShape::sizeOf(w.shape.reducedAxes());
  const int64_t lanes = w.choice("lanes"), width = w.choice("width");
  return columns && w.shape.reducedAxes().size() == 1 && width > 1 && *columns % width != 0 && *columns >= 4 * width &&
         lanes >= 2 * width && w.choice("chunks") == 0 && w.choice("blocks") == 1 && w.choice("rows") == 1 &&
         phasesOf(w.kernel, w.shape.group).size() == 1 && !storesElements(w.kernel, w.shape) &&
         vectorsOfThread(w) <= kMostVectors && areOfOneOrder(w) && !elementInputs(w.kernel, w.shape).empty();
}

void writeRaggedRows(Writer &writer) {
  RaggedRowsWriter(writer).run();
}

} // namespace tenon::compiler::codegen
