// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/gathered_rows.h"

#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kThreads = 256;
// A thread writes all of a row: more would be far from what its neighbours write.
constexpr int64_t kMostBytes = 128;
// Fewer rows would be less than a warp for each multiprocessor.
constexpr int64_t kLeastRows = 4096;

/// Whether a value of the body depends on the index of that loop and on nothing else, by a few operations.
bool isOfLoop(Value value, unsigned loop, unsigned depth = 0) {
  constexpr unsigned kMostDepth = 8;
  Operation *op = value.getDefiningOp();
  if (depth == kMostDepth || !op || !isa_and_nonnull<arith::ArithDialect, linalg::LinalgDialect>(op->getDialect()))
    return false;
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return index.getDim() == loop;
  bool isOf = false;
  for (Value operand : op->getOperands()) {
    if (operand.getDefiningOp<arith::ConstantOp>())
      continue;
    if (!isOfLoop(operand, loop, depth + 1))
      return false;
    isOf = true;
  }
  return isOf;
}

/// Whether the body divides by a number what depends on the loop alone.
bool takesApart(linalg::GenericOp op, unsigned loop) {
  return llvm::any_of(op.getBody()->without_terminator(), [&](Operation &inner) {
    return isa<arith::DivUIOp, arith::DivSIOp, arith::RemUIOp, arith::RemSIOp>(inner) &&
           isOfLoop(inner.getResult(0), loop);
  });
}

bool isStraight(linalg::GenericOp op) {
  return llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) { return inner.getNumRegions() == 0; });
}

class RowsOfPlaces {
public:
  explicit RowsOfPlaces(Writer &w) : w_(w), k_(w.k), last_(w.shape.axes.size() - 1), width_(w.choice("width")) {}

  void write() {
    w_.space.vectorAxis = last_;
    Value row = k_.add(k_.mul(k_.block(), k_.number(k_.threads)), k_.thread());
    k_.when(k_.less(row, w_.space.size(0, last_)), [&] {
      Point point;
      w_.space.place(point, 0, last_, row);
      k_.branch(w_.bodies.areBasesAligned(width_), [&] { writeVectors(point); }, [&] { writeApart(point); });
    });
  }

private:
  void storeAt(Point point, Value position) {
    point.index.back() = position;
    point.id = point.place = w_.space.newId();
    w_.bodies.store(w_.kernel.only(), point);
  }

  void writeVectors(const Point &point) {
    Bodies::Scope scope(w_.bodies);
    w_.bodies.setWidth(width_);
    w_.bodies.setBranchless(true);
    for (int64_t first = 0; first < *w_.shape.axes[last_].size; first += width_)
      storeAt(point, k_.number(first));
    w_.bodies.setBranchless(false);
  }

  /// Where the result lies anywhere: an element after the other.
  void writeApart(const Point &point) {
    k_.loop(k_.number(0), w_.space.size(last_), k_.number(1), {}, [&](Value position, ValueRange) {
      Bodies::Scope scope(w_.bodies);
      w_.bodies.setWidth(1);
      storeAt(point, position);
      return SmallVector<Value>();
    });
  }

  Writer &w_;
  KernelBuilder &k_;
  const unsigned last_; // axis
  const unsigned width_;
};

} // namespace

std::optional<Plan> GatheredRows::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  if (shape.group.hasReduction() || kernel.ops.size() != 1 || kernel.gathered.empty() || shape.axes.size() < 2)
    return std::nullopt;
  const KernelOp &only = kernel.only();
  auto op = linalg::GenericOp(only.op);
  const SpaceAxis &row = shape.axes.back();
  if (row.axes.size() != 1 || !row.size || !isStraight(op) || only.outputs.size() != 1 ||
      llvm::any_of(only.inputs, [](const KernelInput &input) { return input.isMemory(); }))
    return std::nullopt;
  const KernelTensor &result = only.outputs.front().tensor;
  const int64_t bytes = dispatch::elementBytes(result.element);
  const uint32_t width = vectorWidth(kernel, shape, shape.axes.size() - 1);
  if (*row.size * bytes > kMostBytes || *row.size % width != 0 || !result.map.isIdentity() ||
      !takesApart(op, op.getNumLoops() - 1))
    return std::nullopt;
  if (GroupShape::sizeOf(ArrayRef(shape.axes).drop_back()).value_or(kLeastRows) < kLeastRows)
    return std::nullopt;
  return Plan{name(), kThreads, {{"width", width}}, {{extentsOf(ArrayRef(shape.axes).drop_back()), kThreads}}};
}

void GatheredRows::write(Writer &writer) const {
  writeBySize(*this, writer, [&] { RowsOfPlaces(writer).write(); });
}

} // namespace tenon::compiler::codegen
