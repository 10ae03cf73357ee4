// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the sums of a skinny product's lanes to its results. Lanes of all warps have parts of the same sums: they leave
// them in shared memory, and each thread adds up what the warps have left of an element, in the order of the warps, and
// computes what the group does with it. Of a product with gates (GroupShape::gatesAxis) that is all gates of a unit.
#include "compiler/codegen/contraction/kernels/skinny/skinny_roles.h"

#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
using namespace skinny;

/// Where each sum of the lane belongs: among the block's few, among its wide positions.
void SkinnyProduct::forEachSum(llvm::function_ref<void(size_t, Value, Value)> body) {
  Value warp = k_.div(k_.div(k_.thread(), k_.number(kWarp)), k_.number(how_.depthWarps));
  Value first = k_.mul(warp, k_.number(wideOfWarp_));
  auto wideOf = [&](uint32_t position) {
    Value inWarp = wide_.isAlongReduced ? k_.add(group_, k_.number(position * kGroups))
                                        : k_.add(k_.mul(group_, k_.number(how_.positions)), k_.number(position));
    return k_.add(first, inWarp);
  };
  if (!isMma_) {
    for (uint32_t position = 0; position < how_.positions; ++position)
      for (uint32_t few = 0; few < fewAtOnce_; ++few)
        body(position * fewAtOnce_ + few, k_.number(few), wideOf(position));
    return;
  }
  const uint32_t fragments = how_.few / kFragment;
  for (uint32_t position = 0; position < how_.positions; ++position)
    for (uint32_t fragment = 0; fragment < fragments; ++fragment)
      for (uint32_t column = 0; column < 2; ++column)
        body(4 * (position / 2 * fragments + fragment) + 2 * (position % 2) + column,
             k_.add(k_.mul(lane_, k_.number(2)), k_.number(fragment * kFragment + column)), wideOf(position));
}

Value SkinnyProduct::slot(Value warp, Value few, Value wide) {
  const uint32_t row = warpsAcross_ * wideOfWarp_ + kPadding, rows = isMma_ ? how_.few : fewAtOnce_;
  Value element = k_.mul(k_.add(k_.mul(warp, k_.number(rows)), few), k_.number(row));
  return k_.at(arena_, type_, k_.add(element, wide));
}

void SkinnyProduct::leave(ArrayRef<Value> sums, Value warp) {
  auto leaveAll = [&] {
    forEachSum([&](size_t number, Value few, Value wide) { storeShared(k_, sums[number], slot(warp, few, wide)); });
  };
  if (isMma_)
    return leaveAll();
  // All lanes of a group have the same sum.
  k_.when(k_.equal(lane_, k_.number(0)), leaveAll);
}

/// The sums of so many warps as there is place for in shared memory.
SkinnyProduct::Values SkinnyProduct::combineWarps(Values sums, uint32_t &warps) {
  // The upper half of the warps adds to the lower one until there is place for what all of them have.
  const uint32_t rows = isMma_ ? how_.few : fewAtOnce_;
  const uint32_t bytes = rows * (warpsAcross_ * wideOfWarp_ + kPadding) * dispatch::elementBytes(type_);
  const uint32_t places = llvm::bit_floor(std::max(1u, kMostSkinnyBytes / bytes));
  for (; warps > places; warps /= 2) {
    const uint32_t half = warps / 2, count = std::min(places, half);
    for (uint32_t first = half; first < warps; first += count) { // so many at a time
      Value place = k_.sub(depthWarp_, k_.number(first)), taken = k_.sub(depthWarp_, k_.number(first - half));
      k_.when(k_.less(place, k_.number(count)), [&] { leave(sums, place); });
      k_.barrier();
      sums = k_.choose(
          k_.less(taken, k_.number(count)), SmallVector<Type>(sumCount(), type_),
          [&] {
            Values added = sums;
            forEachSum([&](size_t number, Value few, Value wide) {
              added[number] =
                  combine(k_, product_.sum.sum, sums[number], loadShared(k_, type_, slot(taken, few, wide)));
            });
            return added;
          },
          [&] { return sums; });
      k_.barrier();
    }
  }
  return sums;
}

/// Whether neighbours among the few are neighbours in every result: columns, where they are few.
bool SkinnyProduct::areFewAdjacent() const {
  const ArrayRef<unsigned> few = how_.fewAreRows ? product_.rows : product_.columns;
  if (few.empty()) // a matrix times a vector
    return false;
  const unsigned last = few.back();
  return llvm::all_of(kernel_.kernel.ops, [&](const KernelOp &op) {
    return llvm::all_of(op.outputs, [&](const KernelOutput &output) {
      return !output.isStored || kernel_.shape.along(output.tensor, op.op, last) == GroupShape::Along::Adjacent;
    });
  });
}

/// Thread by thread an element of the result: what the warps have summed, in their order. Neighbouring threads have
/// neighbours in memory, or each would write a sector of its own.
void SkinnyProduct::storeResults(uint32_t warps) {
  if (kernel_.shape.gatesAxis)
    return storeCells(warps);
  const RowSum &sum = product_.sum;
  const uint32_t rows = isMma_ ? how_.few : fewAtOnce_, wide = warpsAcross_ * wideOfWarp_;
  Value lastFew = how_.fewAreRows ? space_.rows() : space_.columns();
  Value lastWide = how_.fewAreRows ? space_.columns() : space_.rows();
  bodies_.setWidth(1);
  const bool isAlongFew = areFewAdjacent();
  const uint32_t side = isAlongFew ? rows : wide;
  k_.loop(k_.thread(), k_.number(int64_t(rows) * wide), k_.number(k_.threads), {}, [&](Value number, ValueRange) {
    Value adjacent = k_.rem(number, k_.number(side)), other = k_.div(number, k_.number(side));
    Value row = isAlongFew ? adjacent : other, inRow = isAlongFew ? other : adjacent;
    Value fewAt = k_.add(fewBase_, row), wideAt = k_.add(firstWide_, inRow);
    k_.when(k_.both(k_.less(fewAt, lastFew), k_.less(wideAt, lastWide)), [&] {
      Bodies::Scope scope(bodies_);
      Values parts;
      for (uint32_t warp = 0; warp < warps; ++warp)
        parts.push_back(loadShared(k_, type_, slot(k_.number(warp), row, inRow)));
      const Point point = how_.fewAreRows ? space_.resultAt(fewAt, wideAt) : space_.resultAt(wideAt, fewAt);
      bodies_.setRow(sum, bodies_.finish(sum, point, 0, combineAll(k_, sum.sum, parts)));
      for (const KernelOp &op : kernel_.kernel.ops)
        if (kernel_.shape.group.isPerRow(op.op))
          bodies_.storeRow(op, point);
    });
    return SmallVector<Value>();
  });
}

/// Columns of a unit: its gates, and what makes them a power of two.
uint32_t SkinnyProduct::columnsOfUnit() const {
  return uint32_t(*kernel_.shape.axes[*kernel_.shape.gatesAxis].size);
}

uint32_t SkinnyProduct::cellsOfBlock() const {
  return (isMma_ ? how_.few : fewAtOnce_) * warpsAcross_ * wideOfWarp_ / columnsOfUnit();
}

/// That of a number: a unit of a row.
SkinnyProduct::Cell SkinnyProduct::cellAt(Value number) {
  const uint32_t units = warpsAcross_ * wideOfWarp_ / columnsOfUnit();
  Value row = k_.div(number, k_.number(units));
  return {row, k_.mul(k_.rem(number, k_.number(units)), k_.number(columnsOfUnit()))};
}

/// Where each thread has one cell at most, what that is computed from beside the product is on its way while sums are
/// computed: of a cell that is not there, that of the last one.
void SkinnyProduct::loadCells() {
  if (cellsOfBlock() > k_.threads)
    return;
  const Cell cell = cellAt(k_.min(k_.thread(), k_.number(cellsOfBlock() - 1)));
  bodies_.setWidth(1);
  kernel_.space.vectorAxis = *kernel_.shape.gatesAxis;
  loadedCell_ = space_.resultAt(k_.min(k_.add(fewBase_, cell.row), k_.sub(space_.rows(), k_.number(1))),
                                k_.min(k_.add(firstWide_, cell.column), k_.sub(space_.columns(), k_.number(1))));
  bodies_.preloadGates(*loadedCell_);
}

/// What all gates of a unit of a row have summed, and what is computed from them.
void SkinnyProduct::storeCell(const Cell &cell, const Point &point, uint32_t warps) {
  const RowSum &sum = product_.sum;
  Values totals;
  for (int64_t gate = 0; gate < kernel_.shape.gates; ++gate) {
    Values parts;
    for (uint32_t warp = 0; warp < warps; ++warp)
      parts.push_back(loadShared(k_, type_, slot(k_.number(warp), cell.row, k_.add(cell.column, k_.number(gate)))));
    totals.push_back(bodies_.finish(sum, point, 0, combineAll(k_, sum.sum, parts)));
  }
  bodies_.setGates(sum, totals);
  for (const KernelOp &op : kernel_.kernel.ops)
    if (kernel_.shape.group.isPerRow(op.op))
      bodies_.storeRow(op, point);
}

void SkinnyProduct::storeCells(uint32_t warps) {
  bodies_.setWidth(1);
  kernel_.space.vectorAxis = *kernel_.shape.gatesAxis;
  auto store = [&](Value number) {
    const Cell cell = cellAt(number);
    Value fewAt = k_.add(fewBase_, cell.row), wideAt = k_.add(firstWide_, cell.column);
    k_.when(k_.both(k_.less(fewAt, space_.rows()), k_.less(wideAt, space_.columns())), [&] {
      Bodies::Scope scope(bodies_);
      storeCell(cell, loadedCell_ ? *loadedCell_ : space_.resultAt(fewAt, wideAt), warps);
    });
  };
  if (loadedCell_)
    return k_.when(k_.less(k_.thread(), k_.number(cellsOfBlock())), [&] { store(k_.thread()); });
  k_.loop(k_.thread(), k_.number(cellsOfBlock()), k_.number(k_.threads), {}, [&](Value number, ValueRange) {
    store(number);
    return SmallVector<Value>();
  });
}

} // namespace tenon::compiler::codegen
