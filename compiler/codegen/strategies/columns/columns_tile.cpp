// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/columns/columns_tile.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {

ColumnsTile::ColumnsTile(Writer &w, unsigned lanes)
    : w_(w), k_(w.k), lanes_(lanes), axis_(w.shape.parallel - 1), isNarrow_(w.choiceOr("narrow", 0) != 0),
      rowsOfPart_(w.choiceOr("parts", 0)), columns_(w.space.size(axis_)) {
  placeThread();
  placeBlock();
}

void ColumnsTile::placeThread() {
  const auto vectors = uint32_t(w_.choice("across") * w_.choice("width"));
  const auto turned = uint32_t(w_.choiceOr("turned", 0));
  most_ = vectors / lanes_;
  if (!isNarrow_) {
    knownDown_ = k_.threads / most_;
    threadsAcross_ = k_.number(most_);
    threadsDown_ = k_.number(*knownDown_);
    if (turned != 0)
      return placeInSquares(std::min(turned, *knownDown_));
    across_ = k_.rem(k_.thread(), threadsAcross_);
    down_ = k_.div(k_.thread(), threadsAcross_);
    return;
  }
  k_.inWords([&] {
    threadsAcross_ = columns_;
    threadsDown_ = k_.div(k_.number(k_.threads), columns_);
    if (turned != 0) { // rows beside each other, then columns: whole such squares, so that each place is met once
      Value rows = k_.number(std::min(turned, k_.threads / most_)), square = k_.mul(rows, columns_),
            rest = k_.rem(k_.thread(), square);
      threadsDown_ = k_.mul(k_.div(k_.number(k_.threads), square), rows);
      across_ = k_.div(rest, rows);
      down_ = k_.add(k_.mul(k_.div(k_.thread(), square), rows), k_.rem(rest, rows));
      return;
    }
    across_ = k_.rem(k_.thread(), columns_);
    down_ = k_.div(k_.thread(), columns_);
  });
}

/// A warp has `rows` rows of as many vectors as make 32 threads of it; all are powers of two.
void ColumnsTile::placeInSquares(uint32_t rows) {
  constexpr uint32_t kWarp = 32;
  const uint32_t across = std::min(std::max(kWarp / rows, 1u), most_);
  Value thread = k_.thread(), square = k_.div(thread, k_.number(int64_t(rows) * across));
  Value inRow = k_.rem(thread, k_.number(across)), row = k_.rem(k_.div(thread, k_.number(across)), k_.number(rows));
  Value squares = k_.number(most_ / across);
  across_ = k_.add(inRow, k_.mul(k_.rem(square, squares), k_.number(across)));
  down_ = k_.add(row, k_.mul(k_.div(square, squares), k_.number(rows)));
}

void ColumnsTile::placeBlock() {
  Value rows = w_.space.size(w_.shape.parallel, w_.shape.axes.size()), block = k_.block();
  firstRow_ = k_.number(0);
  endRow_ = rows;
  if (rowsOfPart_ != 0) {
    parts_ = k_.div(k_.add(rows, k_.number(rowsOfPart_ - 1)), k_.number(rowsOfPart_));
    if (!w_.choiceOr("total", 0)) {
      part_ = k_.rem(block, parts_);
      block = k_.div(block, parts_);
      firstRow_ = k_.mul(part_, k_.number(rowsOfPart_));
      endRow_ = k_.min(rows, k_.add(firstRow_, k_.number(rowsOfPart_)));
    }
  }
  const int64_t ofTile = int64_t(most_) * lanes_;
  if (w_.choiceOr("flat", 0) != 0) {
    Value all = w_.space.size(0, axis_ + 1),
          number = k_.add(k_.mul(block, k_.number(ofTile)), k_.mul(across_, k_.number(lanes_)));
    exists_ = k_.less(number, all);
    column_.index.resize(w_.shape.axes.size(), k_.number(0));
    w_.space.place(column_, 0, axis_ + 1, k_.min(number, k_.sub(all, k_.number(lanes_))));
    column_.id = w_.space.newId();
    return;
  }
  Value tiles = k_.div(k_.add(columns_, k_.number(ofTile - 1)), k_.number(ofTile));
  const bool isOneTileRow = axis_ == 0;
  Value tile = isOneTileRow ? block : isNarrow_ ? k_.number(0) : k_.rem(block, tiles);
  Value column = k_.add(k_.mul(tile, k_.number(ofTile)), k_.mul(across_, k_.number(lanes_)));
  // Of narrow columns, the threads that are too many for whole rows have no row that others have not.
  exists_ = isNarrow_ ? k_.less(down_, threadsDown_) : k_.less(column, columns_);
  column = k_.min(column, k_.sub(columns_, k_.number(lanes_)));
  column_.index.resize(w_.shape.axes.size(), k_.number(0));
  outer_ = isOneTileRow ? k_.number(0) : isNarrow_ ? block : k_.div(block, tiles);
  if (!isOneTileRow)
    w_.space.place(column_, 0, axis_, outer_);
  column_.index[axis_] = column;
  column_.id = w_.space.newId();
}

Value ColumnsTile::inParts(Value part, unsigned lane) {
  Value row = k_.add(k_.mul(outer_, parts_), part);
  return k_.add(k_.add(k_.mul(row, columns_), column_.index[axis_]), k_.number(lane));
}

SmallVector<Value> ColumnsTile::combineDown(ArrayRef<RowSum> sums, SmallVector<Value> values) {
  SmallVector<Value> arenas;
  for (const RowSum &sum : sums)
    arenas.push_back(k_.shared(storedType(sum.sum.type), uint64_t(k_.threads) * lanes_));
  auto place = [&](size_t sum, Value row, unsigned lane) {
    Value slot = k_.add(k_.mul(row, threadsAcross_), across_);
    slot = k_.add(k_.mul(slot, k_.number(lanes_)), k_.number(lane));
    return k_.at(arenas[sum], storedType(sums[sum].sum.type), slot);
  };
  for (uint32_t half = knownDown_ ? *knownDown_ / 2 : k_.threads / 2; half != 0; half /= 2) {
    Value isLower = k_.less(down_, k_.number(half));
    Value isUpper = k_.less(k_.sub(down_, k_.number(half)), k_.number(half));
    if (!knownDown_) { // there need not be as many above
      isLower = k_.both(isLower, k_.less(k_.add(down_, k_.number(half)), threadsDown_));
      isUpper = k_.both(isUpper, k_.less(down_, threadsDown_));
    }
    k_.when(isUpper, [&] {
      for (size_t sum = 0; sum < sums.size(); ++sum)
        for (unsigned lane = 0; lane < lanes_; ++lane)
          storeShared(k_, values[sum * lanes_ + lane], place(sum, down_, lane));
    });
    k_.barrier();
    values = k_.choose(
        isLower, TypeRange(ValueRange(values)),
        [&] {
          SmallVector<Value> combined;
          Value other = k_.add(down_, k_.number(half));
          for (size_t sum = 0; sum < sums.size(); ++sum)
            for (unsigned lane = 0; lane < lanes_; ++lane)
              combined.push_back(combine(k_, sums[sum].sum, values[sum * lanes_ + lane],
                                         loadShared(k_, sums[sum].sum.type, place(sum, other, lane))));
          return combined;
        },
        [&] { return values; });
  }
  return values;
}

SmallVector<Value> ColumnsTile::ofFirstThreads(ArrayRef<RowSum> sums, SmallVector<Value> values) {
  if (knownDown_ == 1U)
    return values;
  SmallVector<Value> places;
  for (size_t i = 0; i < values.size(); ++i) {
    Type type = storedType(sums[i / lanes_].sum.type);
    places.push_back(k_.at(k_.shared(type, most_), type, across_));
  }
  k_.when(k_.equal(down_, k_.number(0)), [&] {
    for (auto [value, place] : llvm::zip_equal(values, places))
      storeShared(k_, value, place);
  });
  k_.barrier();
  for (auto [i, place] : llvm::enumerate(places))
    values[i] = loadShared(k_, sums[i / lanes_].sum.type, place);
  return values;
}

} // namespace tenon::compiler::codegen
