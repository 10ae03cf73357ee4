// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/forms/key_ranges.h"

#include "compiler/dispatch/analysis/dimensions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// So many keys are worth the kernels that find the ranges.
constexpr int64_t kLeastKeys = 256;
// Limits of rows may be any number; this is behind all keys.
constexpr int64_t kMostLimit = int64_t(1) << 62;

Value withoutFloatCasts(Value value) {
  while (isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

bool isConstant(Value value, llvm::function_ref<bool(const APFloat &)> holds) {
  FloatAttr number;
  return matchPattern(withoutFloatCasts(value), m_Constant(&number)) && holds(number.getValue());
}

/// Which side of a choice hides keys: by -inf, or, of weights, by 0.
std::optional<bool> seenOf(arith::SelectOp select, bool isChain) {
  auto isLeast = [](const APFloat &value) { return value.isInfinity() && value.isNegative(); };
  auto isZero = [](const APFloat &value) { return value.isZero(); };
  if (isConstant(select.getFalseValue(), isLeast))
    return true;
  if (isConstant(select.getTrueValue(), isLeast))
    return false;
  if (isChain && isConstant(select.getFalseValue(), isZero))
    return true;
  if (isChain && isConstant(select.getTrueValue(), isZero))
    return false;
  return std::nullopt;
}

/// Whether a key is seen only where the condition holds, or only where it does not; nothing where it hides none.
std::optional<bool> seenWhere(Value condition, bool isChain) {
  std::optional<bool> found;
  for (OpOperand &use : condition.getUses()) {
    Operation *user = use.getOwner();
    std::optional<bool> seen;
    if (auto select = dyn_cast<arith::SelectOp>(user); select && use.getOperandNumber() == 0)
      seen = seenOf(select, isChain);
    else if (isa<arith::AndIOp, arith::OrIOp>(user))
      seen = seenWhere(user->getResult(0), isChain);
    if (!seen || (isa<arith::AndIOp>(user) && !*seen) || (isa<arith::OrIOp>(user) && *seen) ||
        (found && *found != *seen))
      return std::nullopt;
    found = seen;
  }
  return found;
}

/// An element of the tensor that belongs to a row alone, or to a key alone.
std::optional<RowNumbers> numbersOf(linalg::GenericOp logits, Value value, ArrayRef<unsigned> rows, bool ofRows) {
  RowNumbers found;
  while (isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp, arith::IndexCastOp>(value.getDefiningOp())) {
    found.casts.push_back(value.getDefiningOp()->getName().getStringRef());
    value = value.getDefiningOp()->getOperand(0);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != logits.getBody() || !argument.getType().isSignlessInteger() ||
      argument.getType().getIntOrFloatBitWidth() < 8)
    return std::nullopt;
  OpOperand *operand = logits.getMatchingOpOperand(argument);
  if (!isa<RankedTensorType>(operand->get().getType()))
    return std::nullopt;
  const unsigned keys = logits.getNumLoops() - 1;
  found.tensor = operand->get();
  std::optional<unsigned> along;
  for (auto [dimension, expr] : llvm::enumerate(logits.getMatchingIndexingMap(operand).getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || llvm::is_contained(found.loops, dim.getPosition()))
      return std::nullopt;
    const bool isKey = dim.getPosition() == keys, isRow = llvm::is_contained(rows, dim.getPosition());
    if ((isKey && ofRows) || (isRow && !ofRows) || ((isKey || isRow) && along))
      return std::nullopt;
    if (isKey || isRow)
      along = dimension;
    found.loops.push_back(dim.getPosition());
  }
  if (!along)
    return std::nullopt;
  found.along = *along;
  return found;
}

/// A condition, and the bounds that rows have, as one.
struct Side {
  OpBuilder b;
  Location loc;
  Value key, group; // index: of the key; 64 rows each

  static Side behind(linalg::GenericOp logits, Operation *condition, const RowNumbers &rows) {
    OpBuilder b(condition->getContext());
    b.setInsertionPointAfter(condition);
    const Location loc = condition->getLoc();
    Value key = linalg::IndexOp::create(b, loc, logits.getNumLoops() - 1);
    Value row = linalg::IndexOp::create(b, loc, rows.loops[rows.along]);
    Value group = arith::DivUIOp::create(b, loc, row, arith::ConstantIndexOp::create(b, loc, kRangeRows).getResult());
    return {b, loc, key, group};
  }

  Value elementOf(const RangeTensors::Tensor &tensor) {
    SmallVector<Value> at;
    for (unsigned loop : tensor.loops)
      at.push_back(linalg::IndexOp::create(b, loc, loop));
    at.push_back(group);
    return tensor::ExtractOp::create(b, loc, tensor.value, at);
  }
  Value asIndex(Value value) { return arith::IndexCastOp::create(b, loc, b.getIndexType(), value); }
  /// What an order is compared with: `more` than the element.
  Value limit(const RangeTensors::Tensor &tensor, int64_t more) {
    Value value = elementOf(tensor);
    Type i64 = b.getI64Type();
    auto number = [&](int64_t of) -> Value { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(of)); };
    if (value.getType() != i64)
      value = arith::ExtSIOp::create(b, loc, i64, value);
    value = arith::MinSIOp::create(b, loc, value, number(kMostLimit));
    return asIndex(arith::AddIOp::create(b, loc, value, number(more)).getResult());
  }

  void use(Operation *condition, bool seen, Value from, Value to, Value wholeFrom, Value wholeTo) {
    using P = arith::CmpIPredicate;
    auto both = [&](Value x, Value y, bool isAnd) -> Value {
      return isAnd ? arith::AndIOp::create(b, loc, x, y).getResult() : arith::OrIOp::create(b, loc, x, y).getResult();
    };
    auto between = [&](Value first, Value end) {
      return both(arith::CmpIOp::create(b, loc, seen ? P::sge : P::slt, key, first),
                  arith::CmpIOp::create(b, loc, seen ? P::slt : P::sge, key, end), seen);
    };
    Value inside = between(from, to), isWhole = between(wholeFrom, wholeTo);
    Value either = both(condition->getResult(0), isWhole, !seen), all = both(inside, either, seen);
    all.getDefiningOp()->setAttr(kKeyRange, b.getUnitAttr());
    condition->getResult(0).replaceAllUsesExcept(all, either.getDefiningOp());
  }
};

} // namespace

/// Numbers of rows and of keys that must be equal.
bool KeyRanges::addDocuments(linalg::GenericOp logits, arith::CmpIOp comparison, ArrayRef<unsigned> rows, bool seen) {
  if (comparison.getPredicate() != (seen ? arith::CmpIPredicate::eq : arith::CmpIPredicate::ne))
    return false;
  for (bool isLeft : {true, false}) {
    Value x = isLeft ? comparison.getLhs() : comparison.getRhs(),
          y = isLeft ? comparison.getRhs() : comparison.getLhs();
    const std::optional<RowNumbers> ofRows = numbersOf(logits, x, rows, true),
                                    ofKeys = numbersOf(logits, y, rows, false);
    if (!ofRows || !ofKeys || ofRows->casts != ofKeys->casts ||
        getElementTypeOrSelf(ofRows->tensor.getType()) != getElementTypeOrSelf(ofKeys->tensor.getType()))
      continue;
    const RangeTensors::Bounds &bounds = tensors_.boundsOf(logits, *ofRows, *ofKeys);
    Side side = Side::behind(logits, comparison, *ofRows);
    auto bound = [&](const RangeTensors::Tensor &tensor) { return side.asIndex(side.elementOf(tensor)); };
    Value from = bound(bounds.from), to = bound(bounds.to), wholeFrom = bound(bounds.wholeFrom);
    side.use(comparison, seen, from, to, wholeFrom, bound(bounds.wholeTo));
    return true;
  }
  return false;
}

/// Keys in front of, or behind, a number of the row.
bool KeyRanges::addLimits(linalg::GenericOp logits, arith::CmpIOp comparison, ArrayRef<unsigned> rows, bool seen) {
  using P = arith::CmpIPredicate;
  auto isKey = [&](Value value) {
    if (auto cast = value.getDefiningOp<arith::IndexCastOp>()) {
      if (!cast.getType().isIndex() && cast.getType().getIntOrFloatBitWidth() < kIndexBits)
        return false;
      value = cast.getIn();
    }
    auto index = value.getDefiningOp<linalg::IndexOp>();
    return index && index.getDim() == logits.getNumLoops() - 1;
  };
  P predicate = comparison.getPredicate();
  Value limit = comparison.getRhs();
  if (!isKey(comparison.getLhs())) {
    if (!isKey(comparison.getRhs()))
      return false;
    limit = comparison.getLhs();
    predicate = predicate == P::slt   ? P::sgt
                : predicate == P::sle ? P::sge
                : predicate == P::sgt ? P::slt
                : predicate == P::sge ? P::sle
                                      : P::eq;
  }
  predicate = seen ? predicate : arith::invertPredicate(predicate);
  const bool isUpper = predicate == P::slt || predicate == P::sle, isLower = predicate == P::sgt || predicate == P::sge;
  const std::optional<RowNumbers> ofRows = numbersOf(logits, limit, rows, true);
  if ((!isUpper && !isLower) || !ofRows || llvm::is_contained(ofRows->casts, arith::ExtUIOp::getOperationName()))
    return false;
  const RangeTensors::Extent &extent = tensors_.extentOf(logits, *ofRows);
  Side side = Side::behind(logits, comparison, *ofRows);
  const int64_t more = predicate == P::sle || predicate == P::sgt ? 1 : 0;
  Value least = side.limit(extent.least, more), largest = side.limit(extent.largest, more);
  auto constant = [&](int64_t key) -> Value { return arith::ConstantIndexOp::create(side.b, side.loc, key); };
  if (isUpper) {
    Value first = constant(0);
    side.use(comparison, seen, first, largest, first, least);
  } else {
    Value end = constant(kMostLimit);
    side.use(comparison, seen, least, end, largest, end);
  }
  return true;
}

void KeyRanges::addTo(linalg::GenericOp logits, ArrayRef<unsigned> rows, bool isChain) {
  auto sizeIsLess = [&](unsigned loop, int64_t size) {
    const int64_t known = logits.getStaticLoopRanges()[loop];
    return !ShapedType::isDynamic(known) && known < size;
  };
  if (sizeIsLess(logits.getNumLoops() - 1, kLeastKeys))
    return;
  for (auto comparison : llvm::to_vector(logits.getBody()->getOps<arith::CmpIOp>())) {
    const std::optional<bool> seen = seenWhere(comparison.getResult(), isChain);
    if (seen && !addDocuments(logits, comparison, rows, *seen))
      addLimits(logits, comparison, rows, *seen);
  }
}

} // namespace tenon::compiler::dispatch
