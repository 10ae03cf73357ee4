// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/tile_space.h"

#include "abi/arch_table.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::codegen {

// Tiles run in bands, a column of a band before the next one: the operands of those that run at once fit the
// second-level cache together.
static constexpr uint32_t kTilesOfBand = 8;

int64_t tilesOfBand(int64_t tiles, uint32_t rows, uint32_t columns, uint32_t together) {
  const double side = std::sqrt(double(abi::kHopperMultiprocessors) * rows * columns);
  const auto most = std::max<int64_t>(std::llround(side / (rows * together)), 1);
  const int64_t bands = std::max<int64_t>(int64_t(llvm::divideCeil(uint64_t(tiles), uint64_t(most))), 1);
  return std::max<int64_t>(int64_t(llvm::divideCeil(uint64_t(tiles), uint64_t(bands))), 1);
}

/// Of other tiles than those of warpgroups, and of sizes that are not known, 8 are as fast or faster.
static uint32_t heightOfBand(const ProductKernel &kernel, Value down) {
  const uint32_t together = kernel.clusterRows() / kernel.rows;
  const std::optional<int64_t> tiles = getConstantIntValue(down);
  if (!tiles || kernel.tensorMaps.empty())
    return kTilesOfBand / together;
  return uint32_t(tilesOfBand(*tiles, kernel.rows, kernel.columns, together));
}

static Value atLeastOne(KernelBuilder &k, Value count) {
  return k.select(k.equal(count, k.number(0)), k.number(1), count);
}

TileSpace::TileSpace(const ProductKernel &kernel, Value tile) : kernel_(kernel), k_(kernel.k) {
  const Product &product = kernel.product;
  rows_ = numbersOf(product.rows, kernel.rowPatches);
  columns_ = sizeOf(product.columns);
  auto tilesOf = [&](Value size, uint32_t side) { return k_.div(k_.add(size, k_.number(side - 1)), k_.number(side)); };
  const uint32_t rows = kernel.clusterRows(), columns = kernel.clusterColumns();
  Value down, across = tilesOf(columns_, columns);
  if (product.routes) {
    routes_.emplace(k_, kernel.bodies.base(*product.routes), rows_, product.experts);
    down = routes_->tiles(kernel.rows);
  } else {
    down = tilesOf(rows_, rows);
  }
  Value perBatch = k_.mul(down, across);
  tiles_ = k_.mul(perBatch, sizeOf(product.batch));
  if (routes_) { // of no row there is no tile, and there may be more blocks than tiles
    down = atLeastOne(k_, down);
    perBatch = k_.mul(down, across);
    tile = k_.min(tile, k_.sub(perBatch, k_.number(1)));
  }
  const uint32_t high = heightOfBand(kernel, down);
  Value number = k_.rem(tile, perBatch);
  Value perBand = k_.mul(across, k_.number(high));
  Value first = k_.mul(k_.div(number, perBand), k_.number(high));
  Value height = k_.min(k_.sub(down, first), k_.number(high)), inBand = k_.rem(number, perBand);
  Value inColumn = k_.add(first, k_.rem(inBand, height));
  if (routes_) {
    const Routes::Tile found = routes_->tile(inColumn, kernel.rows);
    firstRow_ = found.first;
    rows_ = found.end;
    expert_ = found.expert;
  } else {
    firstRow_ = k_.mul(inColumn, k_.number(rows));
  }
  firstColumn_ = k_.mul(k_.div(inBand, height), k_.number(columns));
  if (kernel.cluster > 1) {
    Value &first = kernel.isSideBySide ? firstColumn_ : firstRow_;
    const uint32_t side = kernel.isSideBySide ? kernel.columns : kernel.rows;
    first = k_.add(first, k_.mul(k_.rem(k_.block(), k_.number(kernel.cluster)), k_.number(side)));
  }
  pullBack();
  placeInBatch(k_.div(tile, perBatch));
  if (routes_) // any row of the expert names its matrix
    placeRow(origin_, firstRow_);
}

TileSpace::TileSpace(const ProductKernel &kernel, Value inBatch, Value firstRow, Value firstColumn)
    : kernel_(kernel), k_(kernel.k), firstRow_(firstRow), firstColumn_(firstColumn) {
  const Product &product = kernel.product;
  rows_ = numbersOf(product.rows, kernel.rowPatches);
  columns_ = sizeOf(product.columns);
  placeInBatch(inBatch);
}

void TileSpace::pullBack() {
  auto pull = [&](Value &first, Value &own, Value size, uint32_t side, uint32_t step) {
    own = first;
    Value end = k_.mul(k_.div(k_.add(size, k_.number(step - 1)), k_.number(step)), k_.number(step));
    Value isLong = k_.less(k_.number(side), end); // else there is one tile
    first = k_.min(first, k_.select(isLong, k_.sub(end, k_.number(side)), k_.number(0)));
  };
  if (kernel_.pulledBack.rows != 0 && !rowsAreWhole())
    pull(firstRow_, ownRow_, rows_, kernel_.rows, kernel_.pulledBack.rows);
  if (kernel_.pulledBack.columns != 0 && !columnsAreWhole())
    pull(firstColumn_, ownColumn_, columns_, kernel_.columns, kernel_.pulledBack.columns);
}

bool TileSpace::areRowsInside() const {
  return rowsAreWhole() || (kernel_.pulledBack.rows == 1 && leastSize(kernel_.product.rows) >= kernel_.rows);
}

bool TileSpace::areColumnsInside() const {
  return columnsAreWhole() ||
         (kernel_.pulledBack.columns == 1 && leastSize(kernel_.product.columns) >= kernel_.columns);
}

int64_t TileSpace::leastSize(ArrayRef<unsigned> axes) const {
  int64_t size = 1;
  for (unsigned axis : axes)
    size *= kernel_.shape.axes[axis].size.value_or(kernel_.least);
  return size;
}

/// Elements of the batch that have most terms come first: blocks that have one more than others have one of few.
void TileSpace::placeInBatch(Value number) {
  origin_.index.assign(kernel_.shape.axes.size(), k_.number(0));
  place(origin_, kernel_.product.batch, number);
  for (const dispatch::SummedPlaces &places : kernel_.product.places)
    if (Value &index = origin_.index[places.of]; places.runs.front().count < places.runs.back().count)
      index = k_.sub(k_.number(int64_t(places.runs.size()) - 1), index);
  reduced_ = numberOfReduced();
}

Value TileSpace::chosen(const dispatch::SummedPlaces &places,
                        llvm::function_ref<int64_t(const dispatch::SummedPlaces::Run &)> of) {
  Value value = k_.number(of(places.runs.back()));
  for (size_t position = places.runs.size() - 1; position-- > 0;) {
    const int64_t each = of(places.runs[position]);
    if (llvm::all_of(ArrayRef(places.runs).drop_front(position), [&](const auto &run) { return of(run) == each; }))
      continue;
    value = k_.select(k_.equal(origin_.index[places.of], k_.number(int64_t(position))), k_.number(each), value);
  }
  return value;
}

Value TileSpace::countOf(const dispatch::SummedPlaces &places) {
  return chosen(places, [](const auto &run) { return run.count; });
}

Value TileSpace::numberOfReduced() {
  const Product &product = kernel_.product;
  if (product.places.empty())
    return numbersOf(product.reduced, kernel_.reducedPatches);
  Value numbers = k_.number(1);
  for (auto [number, axis] : llvm::enumerate(product.reduced)) {
    const dispatch::SummedPlaces *places = product.placesAlong(axis);
    Value count = places ? countOf(*places) : kernel_.space.size(axis);
    if (kernel_.reducedPatches && kernel_.reducedPatches.sides[number] != 1)
      count = numbersOf(axis, Patches{{kernel_.reducedPatches.sides[number]}});
    numbers = k_.mul(numbers, count);
  }
  return numbers;
}

/// By how many places there are: quotient and remainder. There are only so many counts, and a division by a number that
/// is known is short.
std::pair<Value, Value> TileSpace::divide(const dispatch::SummedPlaces &places, Value number) {
  SmallVector<int64_t> counts; // no tile of none has a number
  for (const auto &run : places.runs)
    if (run.count != 0 && !llvm::is_contained(counts, run.count))
      counts.push_back(run.count);
  Value count = countOf(places), quotient = k_.number(0), rest = k_.number(0);
  for (auto [which, each] : llvm::enumerate(counts)) {
    Value is = k_.equal(count, k_.number(each));
    quotient = which == 0 ? k_.div(number, k_.number(each)) : k_.select(is, k_.div(number, k_.number(each)), quotient);
    rest = which == 0 ? k_.rem(number, k_.number(each)) : k_.select(is, k_.rem(number, k_.number(each)), rest);
  }
  return {quotient, rest};
}

Value TileSpace::placeOf(const dispatch::SummedPlaces &places, Value number) {
  return k_.add(chosen(places, [](const auto &run) { return run.first; }), k_.mul(number, k_.number(places.step)));
}

bool TileSpace::reducedIsWhole() const {
  const Product &product = kernel_.product;
  return product.places.empty() ? isWhole(product.reduced, kernel_.depth, kernel_.reducedPatches)
                                : isWhole(product.reduced.back(), kernel_.depth, {});
}

std::optional<int64_t> TileSpace::knownSize(ArrayRef<unsigned> axes) const {
  return kernel_.shape.sizeOf(axes);
}

bool TileSpace::isWhole(ArrayRef<unsigned> axes, uint32_t side, const Patches &patches) const {
  const std::optional<int64_t> size = knownSize(axes);
  if (!size || *size % side != 0)
    return false;
  return llvm::all_of(llvm::enumerate(patches.sides),
                      [&](auto each) { return *kernel_.shape.axes[axes[each.index()]].size % each.value() == 0; });
}

Value TileSpace::sizeOf(ArrayRef<unsigned> axes) {
  Value size = k_.number(1);
  for (unsigned axis : axes)
    size = k_.mul(size, kernel_.space.size(axis));
  return size;
}

Value TileSpace::numbersOf(ArrayRef<unsigned> axes, const Patches &patches) {
  if (!patches)
    return sizeOf(axes);
  Value outermost = k_.number(1);
  SmallVector<int64_t> sizes;
  for (auto [number, axis] : llvm::enumerate(axes)) {
    const std::optional<int64_t> size = kernel_.shape.axes[axis].size;
    sizes.push_back(size.value_or(patches.sides[number]));
    if (!size) { // the outermost: images of which it is not known how many there are
      Value side = k_.number(patches.sides[number]);
      outermost = k_.div(k_.add(kernel_.space.size(axis), k_.number(patches.sides[number] - 1)), side);
    }
  }
  return k_.mul(outermost, k_.number(patches.count(sizes)));
}

/// By a size that is not known, 1 or more: as no division is left where a row is placed, LLVM places rows ahead of the
/// loop over the sum. The reciprocal (../kernel/reciprocal.h) is computed once, where the size is.
static Quotient divideByUnknown(KernelBuilder &k, Value number, Value size) {
  Value reciprocal;
  {
    const OpBuilder::InsertionGuard guard(k.b);
    k.b.setInsertionPointAfterValue(size);
    Value divisor = arith::MaxUIOp::create(k.b, k.loc, size, k.number(1));
    reciprocal = k.div(k.number(INT64_MAX), divisor);
  }
  return codegen::divide(k, number, size, reciprocal);
}

void TileSpace::place(Point &point, ArrayRef<unsigned> axes, Value number, const Patches &patches) {
  if (!patches) {
    for (size_t i = axes.size(); i-- > 0;) {
      if (const dispatch::SummedPlaces *places = kernel_.product.placesAlong(axes[i])) {
        auto [quotient, rest] = i == 0 ? std::pair(number, number) : divide(*places, number);
        point.index[axes[i]] = placeOf(*places, rest);
        number = quotient;
        continue;
      }
      Value size = kernel_.space.size(axes[i]);
      if (i == 0) {
        point.index[axes[i]] = number;
      } else {
        const Quotient found = kernel_.shape.axes[axes[i]].size ? Quotient{k_.div(number, size), k_.rem(number, size)}
                                                                : divideByUnknown(k_, number, size);
        point.index[axes[i]] = found.remainder;
        number = found.quotient;
      }
      // What lies behind the last gate is it again.
      if (axes[i] == kernel_.shape.gatesAxis && kernel_.shape.gates != kernel_.shape.axes[axes[i]].size)
        point.index[axes[i]] = k_.min(point.index[axes[i]], k_.number(kernel_.shape.gates - 1));
    }
    return;
  }
  Value inPatch = k_.rem(number, k_.number(patches.size()));
  number = k_.div(number, k_.number(patches.size()));
  for (size_t i = axes.size(); i-- > 0;) {
    const int64_t side = patches.sides[i];
    if (const dispatch::SummedPlaces *places = kernel_.product.placesAlong(axes[i])) { // patches of one
      auto [quotient, rest] = i == 0 ? std::pair(number, number) : divide(*places, number);
      point.index[axes[i]] = placeOf(*places, rest);
      number = quotient;
      continue;
    }
    Value patch = number, inside = inPatch;
    if (i != 0) {
      Value along = k_.number(int64_t(llvm::divideCeil(uint64_t(*kernel_.shape.axes[axes[i]].size), uint64_t(side))));
      patch = k_.rem(number, along);
      inside = k_.rem(inPatch, k_.number(side));
      number = k_.div(number, along);
    }
    point.index[axes[i]] = k_.add(k_.mul(patch, k_.number(side)), inside);
    inPatch = k_.div(inPatch, k_.number(side));
  }
}

Value TileSpace::exists(const Point &point, ArrayRef<unsigned> axes, const Patches &patches) {
  Value all;
  for (auto [number, axis] : llvm::enumerate(axes)) {
    // The outermost one may be left by numbers behind the last.
    if (number != 0 && (!patches || *kernel_.shape.axes[axis].size % patches.sides[number] == 0))
      continue;
    Value isBelow = k_.less(point.index[axis], kernel_.space.size(axis));
    all = all ? k_.both(all, isBelow) : isBelow;
  }
  return all;
}

void TileSpace::clamp(Point &point, ArrayRef<unsigned> axes, const Patches &patches) {
  for (auto [number, axis] : llvm::enumerate(axes))
    if (number == 0 || *kernel_.shape.axes[axis].size % patches.sides[number] != 0)
      point.index[axis] = k_.min(point.index[axis], k_.sub(kernel_.space.size(axis), k_.number(1)));
}

void TileSpace::placeRow(Point &point, Value row) {
  place(point, kernel_.product.rows, routes_ ? routes_->rowAt(row) : row, kernel_.rowPatches);
}

Point TileSpace::resultAt(Value row, Value column) {
  Point point = origin_;
  placeRow(point, row);
  place(point, kernel_.product.columns, column);
  point.id = kernel_.space.newId();
  return point;
}

Value TileSpace::isRow(Value row) {
  if (!kernel_.rowPatches)
    return k_.less(row, rows_);
  Point point = origin_;
  place(point, kernel_.product.rows, row, kernel_.rowPatches);
  return exists(point, kernel_.product.rows, kernel_.rowPatches);
}

Value TileSpace::isResult(Value row, Value column) {
  Value is = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(true));
  if (!areRowsInside())
    is = k_.both(is, isRow(row));
  if (!areColumnsInside())
    is = k_.both(is, k_.less(column, columns_));
  return k_.both(is, isOwn(row, column));
}

Value TileSpace::isOwn(Value row, Value column) {
  Value is = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(true));
  if (ownRow_)
    is = k_.both(is, k_.less(ownRow_, k_.add(row, k_.number(1))));
  return ownColumn_ ? k_.both(is, k_.less(ownColumn_, k_.add(column, k_.number(1)))) : is;
}

void TileSpace::placeNearRow(Point &point, Value row) {
  const ArrayRef<unsigned> axes = kernel_.product.rows;
  if (!rowsAreWhole() && !kernel_.rowPatches)
    row = k_.min(row, k_.sub(rows_, k_.number(1)));
  placeRow(point, row);
  if (!rowsAreWhole() && kernel_.rowPatches)
    clamp(point, axes, kernel_.rowPatches);
}

Point TileSpace::resultNear(Value row, Value column, unsigned width) {
  if (!columnsAreWhole())
    column = k_.min(column, k_.sub(columns_, k_.number(width)));
  Point point = origin_;
  placeNearRow(point, row);
  place(point, kernel_.product.columns, column);
  point.id = kernel_.space.newId();
  return point;
}

Point TileSpace::beginOf(const Operand &operand, Value across, Value reduced) {
  Point point = origin_;
  const bool isLeft = &operand == &kernel_.product.left;
  place(point, operand.across, across, isLeft ? kernel_.rowPatches : Patches());
  place(point, kernel_.product.reduced, reduced, kernel_.reducedPatches);
  return point;
}

} // namespace tenon::compiler::codegen
