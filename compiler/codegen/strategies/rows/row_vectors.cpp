// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/rows/row_vectors.h"

#include "compiler/codegen/strategies/rows/row_paths.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {

// Of a lane. With fewer lanes than that needs, rows are short, and go one element at a time.
static constexpr int64_t kMostEdges = 2;
// Lanes of a vector of f32, and of what is wider.
static constexpr unsigned kWords = 4;

/// How many edges a row has, at most.
static int64_t mostEdges(unsigned width) {
  return 2 * (int64_t(width) - 1);
}

void RowVectors::setCluster(uint32_t cluster, Value rank) {
  cluster_ = cluster;
  lane_ = k_.rem(k_.thread(), k_.number(lanes_));
  if (cluster > 1)
    lane_ = k_.add(k_.mul(rank, k_.number(lanes_)), lane_);
}

void RowVectors::setWidth(unsigned width, unsigned planned, bool isRagged, std::optional<int64_t> known) {
  width_ = width;
  planned_ = planned;
  isRagged_ = isRagged;
  least_ = most_ = known;
  if (known)
    return;
  if (std::optional<int64_t> elements = GroupShape::sizeOf(w_.shape.reducedAxes())) {
    most_ = *elements / width;
    least_ = isRagged ? (*elements - (width - 1)) / width : *most_;
  } else if (const int64_t least = w_.choiceOr("least", 0)) {
    least_ = isRagged ? std::max<int64_t>(least - (width - 1), 0) / width : least / width;
  }
}

Row RowVectors::rowOf(uint32_t number) {
  const unsigned parallel = w_.shape.parallel, axes = w_.shape.axes.size();
  const uint32_t groups = k_.threads / lanes_;
  Value linear = k_.div(k_.block(), k_.number(blocks_));
  Row row;
  row.exists = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(true));
  if (groups * rows_ > 1) {
    Value rows = w_.space.size(0, parallel);
    linear = k_.add(k_.mul(linear, k_.number(groups * rows_)), k_.number(number * groups));
    linear = k_.add(linear, k_.div(k_.thread(), k_.number(lanes_)));
    const std::optional<int64_t> known = GroupShape::sizeOf(w_.shape.parallelAxes());
    if (!known || *known % (groups * rows_) != 0) {
      row.exists = k_.less(linear, rows);
      linear = k_.min(linear, k_.sub(rows, k_.number(1))); // all lanes of a warp take part in its shuffles
    }
  }
  w_.space.place(row.point, 0, parallel, linear);
  row.point.index.resize(axes);
  for (unsigned axis = parallel; axis < axes; ++axis)
    row.point.index[axis] = k_.number(0);
  row.point.id = w_.space.newId();
  findVectors(row);
  return row;
}

void RowVectors::findVectors(Row &row) {
  Value columns = w_.space.size(w_.shape.parallel, w_.shape.axes.size()), width = k_.number(width_);
  if (!isRagged_) {
    row.vectors = k_.div(columns, width);
    return;
  }
  // Bases are aligned, and every such tensor has its elements in the same order: one says it of all.
  const std::optional<AffineMap> order = raggedOrder(w_, lanes_, width_);
  Value start;
  for (const ElementInput &input : elementInputs(w_.kernel, w_.shape))
    if (!start && w_.shape.mapOf(*input.tensor, input.op->op) == *order)
      start = k_.rem(w_.space.element(*input.tensor, input.op->op, row.point, 0), width);
  row.front = k_.rem(k_.sub(width, start), width);
  Value rest = k_.sub(columns, row.front);
  row.vectors = k_.div(rest, width);
  row.edges = k_.add(row.front, k_.rem(rest, width));
}

Point RowVectors::pointAt(Value column) {
  Point point = row_.point;
  w_.space.place(point, w_.shape.parallel, w_.shape.axes.size(), column);
  point.id = w_.space.newId();
  return point;
}

RowBatch RowVectors::kept(uint32_t from, uint32_t vectors) {
  RowBatch batch;
  // What is kept is few: 32 bits are enough to count it, and half the instructions.
  Type i32 = k_.b.getI32Type();
  auto narrow = [&](Value value) -> Value { return arith::TruncIOp::create(k_.b, k_.loc, i32, value); };
  Value lane = narrow(lane_), all = narrow(row_.vectors), last = narrow(k_.sub(row_.vectors, k_.number(1)));
  const uint32_t parts = planned_ / width_; // of a vector where accesses are narrower
  uint32_t end = (from + vectors) * parts;
  // Of ragged rows the plan has vectors, and no place for what is around them: elements one by one need one more.
  if (parts > 1) {
    if (most_)
      end = std::max(end, uint32_t(llvm::divideCeil(uint64_t(*most_), uint64_t(lanesOfRow()))));
    else if (holdsEdges(lanes_))
      ++end;
  }
  for (uint32_t chunk = from * parts; chunk < end; ++chunk) {
    const int64_t first = int64_t(chunk) * lanesOfRow();
    if (most_ && first >= *most_)
      break;
    Value vector = k_.add(lane, arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(int32_t(first))));
    const bool allExist = least_ && first + lanesOfRow() <= *least_;
    batch.exists.push_back(allExist ? Value() : k_.less(vector, all));
    if (!allExist)
      vector = k_.min(vector, last);
    Value column = k_.mul(arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(), vector), k_.number(width_));
    batch.points.push_back(pointAt(isRagged_ ? k_.add(row_.front, column) : column));
  }
  return batch;
}

RowBatch RowVectors::following(Value first, unsigned count) {
  RowBatch batch;
  for (unsigned i = 0; i < count; ++i) {
    Value column = k_.mul(k_.add(first, k_.number(int64_t(i) * lanesOfRow())), k_.number(width_));
    batch.points.push_back(pointAt(isRagged_ ? k_.add(row_.front, column) : column));
    batch.exists.push_back({});
  }
  return batch;
}

RowBatch RowVectors::edges() {
  RowBatch batch;
  if (!isRagged_)
    return batch;
  Value behind = k_.sub(w_.space.size(w_.shape.parallel, w_.shape.axes.size()), row_.edges);
  for (int64_t i = 0; i * lanes_ < mostEdges(width_); ++i) {
    Value edge = k_.add(lane_, k_.number(i * lanes_)), exists = k_.less(edge, row_.edges);
    Value column = k_.select(k_.less(edge, row_.front), edge, k_.add(behind, edge));
    batch.exists.push_back(exists);
    batch.points.push_back(pointAt(k_.select(exists, column, k_.number(0))));
  }
  return batch;
}

std::optional<AffineMap> raggedOrder(const Writer &w, uint32_t lanes, unsigned width) {
  if (w.shape.reducedAxes().size() != 1 || width == 1 || mostEdges(width) > kMostEdges * int64_t(lanes))
    return std::nullopt;
  const unsigned row = w.shape.axes.size() - 1;
  AffineMap order;
  // Of an order of its own, or none that vectors follow: read as what it is.
  auto agrees = [&](const KernelTensor &tensor, linalg::GenericOp op, bool isWritten) {
    AffineMap map = w.shape.mapOf(tensor, op);
    if (w.shape.along(tensor, op, row) != GroupShape::Along::Adjacent || !map.isPermutation())
      return !isWritten || w.shape.along(tensor, op, row) == GroupShape::Along::Same;
    if (order && map != order)
      return false;
    order = map;
    return true;
  };
  for (const KernelOp &op : w.kernel.ops) {
    for (const KernelInput &input : op.inputs)
      if (input.isMemory() && !input.bodyArgument.use_empty() && !agrees(input.tensor, op.op, false))
        return std::nullopt;
    for (const KernelOutput &output : op.outputs)
      if (output.isStored && !agrees(output.tensor, op.op, true))
        return std::nullopt;
  }
  // The order is that of an input, which says where rows start.
  return order && llvm::any_of(
                      elementInputs(w.kernel, w.shape),
                      [&](const ElementInput &input) { return w.shape.mapOf(*input.tensor, input.op->op) == order; })
             ? std::optional(order)
             : std::nullopt;
}

/// Whether a tensor lies along rows, and has no element for each of the group's.
static bool hasOtherOrder(const Writer &w) {
  const unsigned row = w.shape.axes.size() - 1;
  return llvm::any_of(w.kernel.ops, [&](const KernelOp &op) {
    return llvm::any_of(op.inputs, [&](const KernelInput &input) {
      return input.isMemory() && !input.bodyArgument.use_empty() &&
             w.shape.along(input.tensor, op.op, row) == GroupShape::Along::Adjacent &&
             !w.shape.mapOf(input.tensor, op.op).isPermutation();
    });
  });
}

Value canBeRagged(const Writer &w) {
  const uint32_t width = w.choice("width"), lanes = w.choice("lanes");
  KernelBuilder &k = w.k;
  const std::optional<int64_t> columns = GroupShape::sizeOf(w.shape.reducedAxes());
  if (!raggedOrder(w, lanes, width) || (columns && (*columns < 2 * int64_t(width) || *columns % width == 0)))
    return {};
  // Where their number is known, neighbouring threads read words as fast one by one, if that is all they do; and
  // weights that no vector is aligned with.
  const bool isWide = width <= kWords;
  if (isWide && columns && phasesOf(w.kernel, w.shape.group).size() == 1 && !storesElements(w.kernel, w.shape))
    return {};
  if (!isWide && columns && w.choice("blocks") == 1 && hasOtherOrder(w))
    return {};
  Value aligned = w.bodies.areBasesAligned(width);
  if (columns)
    return aligned;
  return k.both(aligned, k.less(k.number(2 * int64_t(width) - 1), w.space.size(w.shape.parallel, w.shape.axes.size())));
}

} // namespace tenon::compiler::codegen
