// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/key_range.h"

#include "compiler/codegen/attention/hiding.h"
#include "compiler/dispatch/attention/forms/key_ranges.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

Value number64(KernelBuilder &k, Value value) {
  Type i64 = k.b.getI64Type();
  if (value.getType() == i64)
    return value;
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(k.b, k.loc, i64, value);
  return arith::ExtSIOp::create(k.b, k.loc, i64, value);
}

// Keys are compared as signed numbers: a bound may lie in front of the first.
Value largerOf(KernelBuilder &k, Value x, Value y) {
  return arith::MaxSIOp::create(k.b, k.loc, x, y);
}
Value smallerOf(KernelBuilder &k, Value x, Value y) {
  return arith::MinSIOp::create(k.b, k.loc, x, y);
}

/// How many parts of that size there are.
Value roundedUp(KernelBuilder &k, Value size, Value part) {
  return k.div(k.add(size, k.sub(part, k.number(1))), part);
}

/// A value of the body, the same for all keys, of a row.
Value valueAt(const AttentionKernel &kernel, Value value, TileSpace &space, Value row) {
  KernelBuilder &k = kernel.k;
  Bodies::Scope scope(kernel.bodies);
  kernel.space.vectorAxis = kernel.attention.keys();
  kernel.bodies.setWidth(1);
  return kernel.bodies.ofBody(*kernel.attention.logits, value, space.resultAt(row, k.number(0)))[0];
}

/// The first key that an upper bound hides, or the first that a lower one does not, from a row.
Value keyOf(const AttentionKernel &kernel, const KeyBound &bound, TileSpace &space, Value row) {
  KernelBuilder &k = kernel.k;
  Value x = number64(k, valueAt(kernel, bound.x, space, row)), y = number64(k, valueAt(kernel, bound.y, space, row));
  // x - y is 0 at this key.
  Value key = k.sub(y, x);
  return bound.isUpper == bound.orEqual ? k.add(key, k.number(1)) : key;
}

} // namespace

KeyRange::KeyRange(const AttentionKernel &kernel, const ProductKernel &scores, const AttentionTile &tile, uint32_t rows,
                   uint32_t keys, bool isOfHead)
    : kernel_(kernel), k_(kernel.k), keys_(keys) {
  TileSpace space(scores, tile.inBatch, tile.firstRow, k_.number(0));
  const ArrayRef<unsigned> axes = kernel_.attention.scores.columns;
  count_ = isOfHead ? kernel_.space.size(kernel_.attention.keys()) : space.columns();
  const std::optional<int64_t> known = space.knownSize(isOfHead ? axes.take_back() : axes);
  mayEnd_ = !known || *known % keys_ != 0;
  first_ = k_.number(0);
  last_ = count_;
  if (isOfHead || !kernel_.attention.heads())
    limit(tile.firstRow, rows, space);
  first_ = k_.mul(k_.div(first_, k_.number(keys)), k_.number(keys));
}

void KeyRange::limit(Value tileRow, uint32_t rows, TileSpace &space) {
  const std::optional<Hiding> hiding = hidingOf(kernel_.shape, kernel_.attention, kernel_.rows);
  const Product &scores = kernel_.attention.scores;
  Value start = scores.op->outputs.front().startScalar;
  if (!kernel_.attention.isChain && scores.sum.sum.element.isF32() && start && matchPattern(start, m_PosZeroFloat()))
    scale_ = scaleOf(kernel_.attention, hiding);
  if (!hiding)
    return;
  Value lastRow = k_.min(k_.add(tileRow, k_.number(rows - 1)), k_.sub(space.rows(), k_.number(1)));
  if (const auto length = wrappedRows(kernel_.shape, kernel_.attention, kernel_.rows)) {
    Value inHead = k_.rem(tileRow, k_.number(*length)), ofHead = k_.sub(tileRow, inHead);
    Value isOfOne = k_.less(k_.add(inHead, k_.sub(lastRow, tileRow)), k_.number(*length));
    tileRow = k_.select(isOfOne, tileRow, ofHead);
    lastRow = k_.select(isOfOne, lastRow, k_.add(ofHead, k_.number(*length - 1)));
  }
  Value zero = k_.number(0), first = zero, last = count_, wholeFrom = zero, wholeTo = count_;
  for (const KeyBound &bound : hiding->bounds) {
    Value ofFirst = keyOf(kernel_, bound, space, tileRow), ofLast = keyOf(kernel_, bound, space, lastRow);
    hasUpper_ |= bound.isUpper;
    if (bound.isUpper) {
      last = smallerOf(k_, last, largerOf(k_, ofLast, zero));
      wholeTo = smallerOf(k_, wholeTo, largerOf(k_, ofFirst, zero));
    } else {
      hasLower_ = true;
      first = largerOf(k_, first, ofFirst);
      wholeFrom = largerOf(k_, wholeFrom, ofLast);
    }
  }
  for (const RowRange &range : hiding->ranges) {
    hasLower_ = hasUpper_ = true;
    Value from, to;
    for (uint32_t group = 0; group == 0 || group * dispatch::kRangeRows < rows; ++group) {
      Value row = k_.min(k_.add(tileRow, k_.number(group * dispatch::kRangeRows)), lastRow);
      auto limit = [&](Value value) { return number64(k_, valueAt(kernel_, value, space, row)); };
      from = from ? smallerOf(k_, from, limit(range.from)) : limit(range.from);
      to = to ? largerOf(k_, to, limit(range.to)) : limit(range.to);
      wholeFrom = largerOf(k_, wholeFrom, limit(range.wholeFrom));
      wholeTo = smallerOf(k_, wholeTo, largerOf(k_, limit(range.wholeTo), zero));
    }
    first = largerOf(k_, first, from);
    last = smallerOf(k_, last, largerOf(k_, to, zero));
  }
  for (const RowBound &bound : hiding->rowBounds) {
    hasUpper_ = true;
    Value ofFirst = valueAt(kernel_, arith::CmpIOp(bound.comparison), space, tileRow),
          ofLast = valueAt(kernel_, arith::CmpIOp(bound.comparison), space, lastRow);
    Value both = arith::AndIOp::create(k_.b, k_.loc, ofFirst, ofLast),
          any = arith::OrIOp::create(k_.b, k_.loc, ofFirst, ofLast);
    last = bound.holds ? k_.select(any, last, zero) : k_.select(both, zero, last);
    wholeTo = bound.holds ? k_.select(both, wholeTo, zero) : k_.select(any, zero, wholeTo);
  }
  always_ = hiding->always;
  holding_ = hiding->inWhole;
  isKnown_ = !holding_.empty();
  if (isKnown_) {
    wholeFrom_ = wholeFrom;
    wholeTo_ = wholeTo;
  }
  if (!hiding->isWhole) // some key may be hidden anywhere
    scale_ = std::nullopt;
  if (scale_ && hiding->weighsNothing && hiding->shown && !isa<BlockArgument>(hiding->shown))
    shown_ = hiding->shown;
  first = smallerOf(k_, first, count_);
  if (hiding->weighsNothing) {
    first_ = first;
    last_ = last;
  } else if (hiding->isWhole && hiding->isOnly) {
    // There is a key that all rows see: then each sees one.
    Value seen = k_.less(wholeFrom, wholeTo);
    first_ = k_.select(seen, first, zero);
    last_ = k_.select(seen, last, count_);
  }
}

/// Of the blocks, those between two of their ends.
void KeyRange::take(Value first, Value last) {
  first_ = largerOf(k_, first_, first);
  last_ = smallerOf(k_, last_, last);
  if (wholeFrom_) // segments begin with the first block
    wholeFrom_ = largerOf(k_, wholeFrom_, first_);
}

void KeyRange::takePart(Value part, uint32_t parts) {
  Value keys = k_.number(keys_), none = k_.number(0);
  Value blocks = k_.select(k_.less(first_, last_), roundedUp(k_, k_.sub(last_, first_), keys), none);
  Value ofPart = k_.mul(roundedUp(k_, blocks, k_.number(parts)), keys);
  Value first = k_.add(first_, k_.mul(part, ofPart));
  take(first, k_.add(first, ofPart));
}

void KeyRange::takeThoseOf(const KeyRange &other) {
  take(other.first_, other.last_);
}

SmallVector<KeyRange::Segment> KeyRange::segments() const {
  if (!isKnown_)
    return {{first_, last_, false}};
  Value keys = k_.number(keys_);
  auto roundedDown = [&](Value key) { return k_.mul(k_.div(key, keys), keys); };
  SmallVector<Segment> segments;
  Value from = first_;
  if (hasLower_) {
    from = smallerOf(k_, roundedDown(k_.add(wholeFrom_, k_.number(keys_ - 1))), last_);
    segments.push_back({first_, from, false});
  }
  Value to = largerOf(k_, roundedDown(smallerOf(k_, wholeTo_ ? wholeTo_ : count_, last_)), from);
  segments.push_back({from, to, true});
  if (hasUpper_ || mayEnd_)
    segments.push_back({to, last_, false});
  return segments;
}

double KeyRange::computeLogits(TileSpace &space, MutableArrayRef<LogitRun> runs, bool isWhole) const {
  if (scale_ && (isWhole || hideScores(space, runs)))
    return *scale_;
  computeLogitsHere(space, runs, isWhole);
  return 1;
}

/// Scores that are not multiplied yet, or -inf, which is so however it is multiplied; false where they cannot be.
bool KeyRange::hideScores(TileSpace &space, MutableArrayRef<LogitRun> runs) const {
  const std::optional<int64_t> keys = kernel_.shape.axes[kernel_.attention.keys()].size;
  if (!shown_ || !keys || llvm::any_of(runs, [&](const LogitRun &run) { return *keys % run.scores.size() != 0; }))
    return false;
  for (LogitRun &run : runs) {
    assumeHolding(/*isWhole=*/false);
    kernel_.bodies.assumeLanes(shown_, run.scores);
    codegen::computeLogits(kernel_, space, run, mayEnd_);
    kernel_.bodies.assumeNothing();
  }
  return true;
}

void KeyRange::assumeHolding(bool isWhole) const {
  auto assume = [&](Value value, bool holds) {
    kernel_.bodies.assume(value, arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(holds)));
  };
  for (auto [value, holds] : always_)
    assume(value, holds);
  if (isWhole)
    for (auto [value, holds] : holding_)
      assume(value, holds);
}

void KeyRange::computeLogitsHere(TileSpace &space, MutableArrayRef<LogitRun> runs, bool isWhole) const {
  assumeHolding(isWhole);
  codegen::computeLogits(kernel_, space, runs, /*mayEnd=*/!isWhole && mayEnd_);
  kernel_.bodies.assumeNothing();
}

void KeyRange::computeWeights(TileSpace &space, MutableArrayRef<LogitRun> runs, bool isWhole, bool mayEnd) const {
  assumeHolding(isWhole);
  codegen::computeLogits(kernel_, space, runs, mayEnd, /*hides=*/false);
  kernel_.bodies.assumeNothing();
}

void KeyRange::computeLogits(TileSpace &space, Value firstKey, MutableArrayRef<LogitRun> runs) const {
  if (!wholeTo_ && !mayEnd_)
    return computeLogitsHere(space, runs, /*isWhole=*/false);
  Value lastKey = k_.add(firstKey, k_.number(keys_));
  Value isWhole = arith::CmpIOp::create(k_.b, k_.loc, arith::CmpIPredicate::sle, lastKey, wholeTo_ ? wholeTo_ : count_);
  if (wholeFrom_)
    isWhole = k_.both(isWhole, arith::CmpIOp::create(k_.b, k_.loc, arith::CmpIPredicate::sle, wholeFrom_, firstKey));
  SmallVector<Type> types;
  for (const LogitRun &run : runs)
    types.append(run.scores.size(), kernel_.attention.output.sum.sum.type);
  auto computed = [&](bool isInside) {
    SmallVector<LogitRun> copies(runs.begin(), runs.end());
    computeLogitsHere(space, copies, isInside);
    SmallVector<Value> values;
    for (LogitRun &run : copies)
      llvm::append_range(values, run.scores);
    return values;
  };
  const SmallVector<Value> logits =
      k_.choose(isWhole, types, [&] { return computed(true); }, [&] { return computed(false); });
  const Value *next = logits.begin();
  for (LogitRun &run : runs)
    for (Value &score : run.scores)
      score = *next++;
}

Value KeyRange::orNothing(Value result) const {
  if (KernelBuilder::known(k_.less(k_.number(0), count_)) == true)
    return result;
  Value zero = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(result.getType()));
  return k_.select(k_.equal(count_, k_.number(0)), zero, result);
}

} // namespace tenon::compiler::codegen
