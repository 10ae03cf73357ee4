// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/forms/range_tensors.h"

#include "compiler/dispatch/analysis/dimensions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Keys whose numbers are looked at together, and a key behind all that there may be.
constexpr int64_t kGroup = kRangeRows, kNoKey = int64_t(1) << 30;

/// Behind what computes both tensors; they are no later than `reader`.
OpBuilder behind(Operation *reader, ArrayRef<Value> tensors) {
  Operation *last = nullptr;
  for (Value tensor : tensors)
    if (Operation *op = tensor.getDefiningOp(); op && op->getBlock() == reader->getBlock())
      last = !last || last->isBeforeInBlock(op) ? op : last;
  OpBuilder b(reader->getContext());
  if (last)
    b.setInsertionPointAfter(last);
  else
    b.setInsertionPointToStart(reader->getBlock());
  return b;
}

Value integer(OpBuilder &b, Location loc, Type type, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

/// The least, or the largest, along the last loop.
Value reduceLast(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes, Value input, bool isLeast) {
  Type element = getElementTypeOrSelf(input.getType());
  const unsigned bits = element.getIntOrFloatBitWidth(), loops = sizes.size() + 1;
  const APInt start = isLeast ? APInt::getSignedMaxValue(bits) : APInt::getSignedMinValue(bits);
  Value empty = tensor::EmptyOp::create(b, loc, sizes, element);
  Value filled = linalg::FillOp::create(b, loc, integer(b, loc, element, start.getSExtValue()), empty).getResult(0);
  SmallVector<utils::IteratorType> types(loops, utils::IteratorType::parallel);
  types.back() = utils::IteratorType::reduction;
  const AffineMap all = b.getMultiDimIdentityMap(loops);
  return linalg::GenericOp::create(b, loc, empty.getType(), input, filled, {all, all.dropResult(loops - 1)}, types,
                                   [&](OpBuilder &inside, Location, ValueRange x) {
                                     Value after = isLeast
                                                       ? arith::MinSIOp::create(inside, loc, x[0], x[1]).getResult()
                                                       : arith::MaxSIOp::create(inside, loc, x[0], x[1]).getResult();
                                     linalg::YieldOp::create(inside, loc, after);
                                   })
      .getResult(0);
}

} // namespace

RangeTensors::Key RangeTensors::keyOf(linalg::GenericOp logits, const RowNumbers &numbers) {
  Key key = {logits->getBlock(), numbers.tensor.getAsOpaquePointer()};
  for (unsigned loop : numbers.loops)
    key.push_back(reinterpret_cast<const void *>(uintptr_t(loop)));
  return key;
}

/// The least and the largest number of each 64. The last ones may be fewer.
const RangeTensors::Extent &RangeTensors::extentOf(linalg::GenericOp logits, const RowNumbers &numbers) {
  Extent &extent = extents_[keyOf(logits, numbers)];
  if (extent.least.value)
    return extent;
  const Location loc = logits.getLoc();
  OpBuilder b = behind(logits, numbers.tensor);
  Type type = getElementTypeOrSelf(numbers.tensor.getType());
  Value count = dimensionOf(b, loc, numbers.tensor, numbers.along),
        group = arith::ConstantIndexOp::create(b, loc, kGroup);
  SmallVector<OpFoldResult> sizes;
  SmallVector<unsigned> loops;
  for (auto [dimension, loop] : llvm::enumerate(numbers.loops))
    if (dimension != numbers.along) {
      sizes.push_back(getAsOpFoldResult(dimensionOf(b, loc, numbers.tensor, dimension)));
      loops.push_back(loop);
    }
  IntegerAttr known;
  if (matchPattern(count, m_Constant(&known)))
    sizes.push_back(b.getIndexAttr(llvm::divideCeil(uint64_t(known.getInt()), uint64_t(kGroup))));
  else
    sizes.push_back(arith::CeilDivUIOp::create(b, loc, count, group).getResult());
  SmallVector<OpFoldResult> split = sizes;
  split.push_back(b.getIndexAttr(kGroup));
  const unsigned rank = split.size();
  // Behind the last number it is that again.
  Value empty = tensor::EmptyOp::create(b, loc, split, type);
  Value groups =
      linalg::GenericOp::create(
          b, loc, empty.getType(), ValueRange(), empty, b.getMultiDimIdentityMap(rank),
          SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
          [&](OpBuilder &inside, Location, ValueRange) {
            auto loopAt = [&](unsigned loop) -> Value { return linalg::IndexOp::create(inside, loc, loop); };
            Value one = arith::ConstantIndexOp::create(inside, loc, 1);
            Value each = arith::ConstantIndexOp::create(inside, loc, kGroup);
            Value place = arith::AddIOp::create(
                inside, loc, arith::MulIOp::create(inside, loc, loopAt(rank - 2), each).getResult(), loopAt(rank - 1));
            place =
                arith::MinSIOp::create(inside, loc, place, arith::SubIOp::create(inside, loc, count, one).getResult());
            SmallVector<Value> at;
            unsigned next = 0;
            for (unsigned dimension = 0; dimension < numbers.loops.size(); ++dimension)
              at.push_back(dimension == numbers.along ? place : loopAt(next++));
            linalg::YieldOp::create(inside, loc,
                                    tensor::ExtractOp::create(inside, loc, numbers.tensor, at).getResult());
          })
          .getResult(0);
  auto reduced = [&](bool isLeast) -> Tensor { return {reduceLast(b, loc, sizes, groups, isLeast), loops}; };
  extent.least = reduced(true);
  extent.largest = reduced(false);
  return extent;
}

const RangeTensors::Bounds &RangeTensors::boundsOf(linalg::GenericOp logits, const RowNumbers &rows,
                                                   const RowNumbers &keys) {
  Key key = keyOf(logits, rows);
  llvm::append_range(key, keyOf(logits, keys));
  Bounds &bounds = bounds_[key];
  if (bounds.from.value)
    return bounds;
  const Location loc = logits.getLoc();
  const Extent ofRows = extentOf(logits, rows), ofKeys = extentOf(logits, keys);
  OpBuilder b = behind(logits, {ofRows.least.value, ofRows.largest.value, ofKeys.least.value, ofKeys.largest.value});
  // Loops: the batch of either, groups of rows, groups of keys.
  SmallVector<unsigned> batch;
  for (const Tensor *each : {&ofRows.least, &ofKeys.least})
    for (unsigned loop : each->loops)
      if (!llvm::is_contained(batch, loop))
        batch.push_back(loop);
  llvm::sort(batch);
  const unsigned loops = batch.size() + 2;
  SmallVector<OpFoldResult> sizes(batch.size() + 1);
  auto mapOf = [&](const Tensor &tensor, unsigned last) {
    SmallVector<unsigned> at;
    for (auto [dimension, loop] : llvm::enumerate(tensor.loops)) {
      at.push_back(llvm::find(batch, loop) - batch.begin());
      sizes[at.back()] = getAsOpFoldResult(dimensionOf(b, loc, tensor.value, dimension));
    }
    at.push_back(last);
    return AffineMap::getMultiDimMapWithTargets(loops, at, b.getContext());
  };
  const AffineMap rowMap = mapOf(ofRows.least, loops - 2), keyMap = mapOf(ofKeys.least, loops - 1);
  sizes.back() = getAsOpFoldResult(dimensionOf(b, loc, ofRows.least.value, ofRows.least.loops.size()));
  const SmallVector<Value> inputs = {ofRows.least.value, ofRows.largest.value, ofKeys.least.value,
                                     ofKeys.largest.value};
  const SmallVector<AffineMap> maps = {rowMap, rowMap, keyMap, keyMap};
  Type i32 = b.getI32Type();
  auto compare = [&](OpBuilder &inside, arith::CmpIPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpIOp::create(inside, loc, predicate, x, y);
  };
  auto firstKey = [&](OpBuilder &inside, int64_t groupsBehind) -> Value {
    Value group =
        arith::IndexCastOp::create(inside, loc, i32, linalg::IndexOp::create(inside, loc, loops - 1).getResult());
    Value first = arith::MulIOp::create(inside, loc, group, integer(inside, loc, i32, kGroup));
    return arith::AddIOp::create(inside, loc, first, integer(inside, loc, i32, groupsBehind * kGroup));
  };
  auto meet = [&](OpBuilder &inside, ValueRange x) -> Value {
    return arith::AndIOp::create(inside, loc, compare(inside, arith::CmpIPredicate::sle, x[2], x[1]),
                                 compare(inside, arith::CmpIPredicate::sle, x[0], x[3]));
  };
  auto areOne = [&](OpBuilder &inside, ValueRange x) -> Value {
    Value both = arith::AndIOp::create(inside, loc, compare(inside, arith::CmpIPredicate::eq, x[0], x[1]),
                                       compare(inside, arith::CmpIPredicate::eq, x[2], x[3]));
    return arith::AndIOp::create(inside, loc, both, compare(inside, arith::CmpIPredicate::eq, x[0], x[2]));
  };
  auto choose = [&](OpBuilder &inside, Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(inside, loc, condition, yes, no);
  };
  // Of both that meet, and of those that are one: the first, the last and how many keys they are.
  const SmallVector<int64_t> startsFrom = {kNoKey, 0, kNoKey, 0, 0};
  Value empty = tensor::EmptyOp::create(b, loc, sizes, i32);
  SmallVector<Value> starts;
  SmallVector<AffineMap> all = maps;
  for (int64_t start : startsFrom) {
    starts.push_back(linalg::FillOp::create(b, loc, integer(b, loc, i32, start), empty).getResult(0));
    all.push_back(b.getMultiDimIdentityMap(loops).dropResult(loops - 1));
  }
  SmallVector<utils::IteratorType> types(loops, utils::IteratorType::parallel);
  types.back() = utils::IteratorType::reduction;
  auto found = linalg::GenericOp::create(
      b, loc, TypeRange(ValueRange(starts)), inputs, starts, all, types,
      [&](OpBuilder &inside, Location, ValueRange x) {
        const ValueRange before = x.drop_front(inputs.size());
        Value meets = meet(inside, x), isOne = areOne(inside, x), first = firstKey(inside, 0),
              end = firstKey(inside, 1);
        Value none = integer(inside, loc, i32, kNoKey), zero = integer(inside, loc, i32, 0);
        Value keys = integer(inside, loc, i32, kGroup);
        auto least = [&](Value value, Value other) -> Value {
          return arith::MinSIOp::create(inside, loc, value, other);
        };
        auto most = [&](Value value, Value other) -> Value {
          return arith::MaxSIOp::create(inside, loc, value, other);
        };
        linalg::YieldOp::create(
            inside, loc,
            ValueRange{
                least(choose(inside, meets, first, none), before[0]), most(choose(inside, meets, end, zero), before[1]),
                least(choose(inside, isOne, first, none), before[2]), most(choose(inside, isOne, end, zero), before[3]),
                arith::AddIOp::create(inside, loc, choose(inside, isOne, keys, zero), before[4]).getResult()});
      });
  // Where others stand between them, the first is taken alone.
  const AffineMap each = b.getMultiDimIdentityMap(loops - 1);
  Value wholeTo = linalg::GenericOp::create(b, loc, empty.getType(), ValueRange(found->getResults().drop_front(2)),
                                            empty, {each, each, each, each},
                                            SmallVector<utils::IteratorType>(loops - 1, utils::IteratorType::parallel),
                                            [&](OpBuilder &inside, Location, ValueRange x) {
                                              Value length = arith::SubIOp::create(inside, loc, x[1], x[0]);
                                              Value behind = arith::AddIOp::create(inside, loc, x[0],
                                                                                   integer(inside, loc, i32, kGroup));
                                              Value isRun = compare(inside, arith::CmpIPredicate::eq, length, x[2]);
                                              linalg::YieldOp::create(inside, loc, choose(inside, isRun, x[1], behind));
                                            })
                      .getResult(0);
  bounds = {{found->getResult(0), batch}, {found->getResult(1), batch}, {found->getResult(2), batch}, {wholeTo, batch}};
  return bounds;
}

} // namespace tenon::compiler::dispatch
