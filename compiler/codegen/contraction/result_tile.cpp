// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/result_tile.h"

#include "compiler/dispatch/kernel_config.h"

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
    const uint32_t width = columns.empty() ? 1 : vectorWidth(kernel_.kernel, kernel_.shape, columns.back());
    Value aligned = bodies_.isAligned(width, /*needsWhole=*/true);
    for (const ResultPart &part : parts) {
      columns_ = part.columns != 0 ? part.columns : kernel_.columns;
      k_.barrier();
      for (const Run &run : part.runs)
        stage(run);
      k_.barrier();
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

  void store(const ResultPart &part, uint32_t width) {
    const uint32_t across = columns_ / width;
    k_.loop(k_.thread(), k_.number(int64_t(part.rows) * across), k_.number(k_.threads), {},
            [&](Value vector, ValueRange) {
              Bodies::Scope scope(bodies_);
              bodies_.setWidth(width);
              Value inPart = k_.div(vector, k_.number(across));
              Value inPartColumn = k_.mul(k_.rem(vector, k_.number(across)), k_.number(width));
              Value row = k_.add(space_.firstRow(), part.rowOf(inPart));
              Value column = k_.add(space_.firstColumn(), part.columnOf ? part.columnOf(inPartColumn) : inPartColumn);
              Value exists = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(true));
              if (!space_.rowsAreWhole())
                exists = k_.both(exists, k_.less(row, space_.rows()));
              if (!space_.columnsAreWhole())
                exists = k_.both(exists, k_.less(column, space_.columns()));
              k_.when(exists, [&] { storeVector(space_.resultAt(row, column), at(inPart, inPartColumn), width); });
              return SmallVector<Value>();
            });
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
      if (kernel_.shape.group.isPerRow(op.op))
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
