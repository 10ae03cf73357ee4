// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/result_tile.h"

#include "compiler/codegen/contraction/result_ops.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Rows of eight threads begin in different banks: by elements behind each row, or, where rows of a part are as long as
// all banks twice, by exchanging groups of eight columns.
constexpr uint32_t kPadding = 8, kGroup = 8, kExchanged = 64;

uint32_t rowElements(uint32_t columns) {
  return columns == kExchanged ? columns : columns + kPadding;
}

class ResultWriter {
public:
  ResultWriter(const ProductKernel &kernel, TileSpace &space, Value arena)
      : kernel_(kernel), k_(kernel.k), bodies_(kernel.bodies), space_(space), arena_(arena),
        type_(storedType(kernel.product.sum.sum.type)) {}

  void run(ArrayRef<ResultPart> parts) {
    const ArrayRef<unsigned> columns = kernel_.product.columns;
    kernel_.space.vectorAxis = columns.empty() ? 0 : columns.back();
    const bool liesAlongRows = areStoredAlongRows();
    const uint32_t width =
        columns.empty() || liesAlongRows ? 1 : vectorWidth(kernel_.kernel, kernel_.shape, columns.back());
    Value aligned = bodies_.isAligned(width, /*needsWhole=*/true);
    for (const ResultPart &part : parts) {
      columns_ = part.columns != 0 ? part.columns : kernel_.columns;
      k_.barrier();
      for (const Run &run : part.runs)
        stage(run);
      k_.barrier();
      if (liesAlongRows)
        storeAlongRows(part);
      else
        k_.branch(aligned, [&] { store(part, width); }, [&] { store(part, 1); });
    }
  }

private:
  Value at(Value row, Value column) {
    if (columns_ == kExchanged) {
      Value group = k_.exclusiveOr(k_.div(column, k_.number(kGroup)), k_.rem(row, k_.number(kGroup)));
      column = k_.add(k_.mul(group, k_.number(kGroup)), k_.rem(column, k_.number(kGroup)));
    }
    return k_.at(arena_, type_, k_.add(k_.mul(row, k_.number(rowElements(columns_))), column));
  }

  void stage(const Run &run) {
    const uint32_t count = run.values.size();
    if (count == 1)
      return k_.store(run.values[0], at(run.row, run.column), dispatch::elementBytes(type_));
    Value all = LLVM::PoisonOp::create(k_.b, k_.loc, VectorType::get(count, type_));
    for (auto [lane, value] : llvm::enumerate(run.values))
      all = LLVM::InsertElementOp::create(k_.b, k_.loc, all, value, k_.number(lane));
    k_.store(all, at(run.row, run.column), std::min(16u, count * dispatch::elementBytes(type_)));
  }

  /// Whether neighbours in what is stored are results of neighbouring rows: those of a convolution in NCHW.
  bool areStoredAlongRows() const {
    const Product &product = kernel_.product;
    if (product.rows.empty() || product.columns.empty())
      return false;
    bool any = false;
    for (const KernelOp &op : kernel_.kernel.ops)
      for (const KernelOutput &output : op.outputs) {
        if (!output.isStored ||
            (hasTwoResults(kernel_.shape) && !isOfResult(kernel_.kernel, kernel_.shape, product, op)))
          continue;
        if (kernel_.shape.along(output.tensor, op.op, product.rows.back()) != GroupShape::Along::Adjacent)
          return false;
        any = true;
      }
    return any;
  }

  void store(const ResultPart &part, uint32_t width) {
    const uint32_t across = columns_ / width;
    forEach(k_.thread(), part.rows * across, k_.threads, [&](Value vector) {
      storeAt(part, k_.div(vector, k_.number(across)), k_.mul(k_.rem(vector, k_.number(across)), k_.number(width)),
              width);
    });
  }

  /// A warp stores eight rows of four columns: that many neighbours in memory, from most banks. It goes on along the
  /// columns, so that where its rows lie is computed once.
  void storeAlongRows(const ResultPart &part) {
    constexpr uint32_t kRows = 8, kColumns = 4, kLanes = kRows * kColumns;
    Value lane = k_.rem(k_.thread(), k_.number(kLanes)), warp = k_.div(k_.thread(), k_.number(kLanes));
    forEach(warp, part.rows / kRows, k_.threads / kLanes, [&](Value group) {
      Value row = k_.add(k_.mul(group, k_.number(kRows)), k_.rem(lane, k_.number(kRows)));
      forEach(k_.number(0), columns_ / kColumns, 1, [&](Value next) {
        storeAt(part, row, k_.add(k_.mul(next, k_.number(kColumns)), k_.div(lane, k_.number(kRows))), 1);
      });
    });
  }

  void forEach(Value first, uint32_t count, uint32_t step, llvm::function_ref<void(Value)> body) {
    k_.loop(first, k_.number(count), k_.number(step), {}, [&](Value number, ValueRange) {
      Bodies::Scope scope(bodies_);
      body(number);
      return SmallVector<Value>();
    });
  }

  void storeAt(const ResultPart &part, Value inPart, Value inPartColumn, uint32_t width) {
    bodies_.setWidth(width);
    Value row = k_.add(space_.firstRow(), part.rowOf(inPart));
    Value column = k_.add(space_.firstColumn(), part.columnOf ? part.columnOf(inPartColumn) : inPartColumn);
    k_.when(space_.isResult(row, column),
            [&] { storeVector(space_.resultAt(row, column), at(inPart, inPartColumn), width); });
  }

  void storeVector(const Point &point, Value from, uint32_t width) {
    const RowSum &sum = kernel_.product.sum;
    const uint32_t bytes = dispatch::elementBytes(type_);
    SmallVector<Value> totals;
    if (width == 1) {
      totals.push_back(k_.load(type_, from, bytes));
    } else {
      Value all = k_.load(VectorType::get(width, type_), from, std::min(16u, width * bytes));
      for (uint32_t lane = 0; lane < width; ++lane)
        totals.push_back(LLVM::ExtractElementOp::create(k_.b, k_.loc, all, k_.number(lane)));
    }
    for (auto [lane, total] : llvm::enumerate(totals))
      total = bodies_.finish(sum, point, lane, total);
    bodies_.setRow(sum, totals);
    for (const KernelOp &op : kernel_.kernel.ops)
      if (isOfResult(kernel_.kernel, kernel_.shape, kernel_.product, op))
        bodies_.storeRow(op, point);
  }

  const ProductKernel &kernel_;
  KernelBuilder &k_;
  Bodies &bodies_;
  TileSpace &space_;
  Value arena_;
  Type type_;
  uint32_t columns_ = 0; // of the part
};

} // namespace

uint32_t stagedBytes(uint32_t rows, uint32_t columns, uint32_t sumBytes) {
  return rows * rowElements(columns) * sumBytes;
}

void writeResult(const ProductKernel &kernel, TileSpace &space, Value arena, ArrayRef<ResultPart> parts) {
  ResultWriter(kernel, space, arena).run(parts);
}

} // namespace tenon::compiler::codegen
