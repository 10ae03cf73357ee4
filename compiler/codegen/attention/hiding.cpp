// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hiding.h"

#include "compiler/dispatch/attention/forms/key_ranges.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// No logit is near such a number by accident.
constexpr double kHidden = -1e20;

/// How an integer of the body grows from key to key and from row to row.
struct Growth {
  int keys = 0, rows = 0;
};

class Finder {
public:
  Finder(const GroupShape &shape, const Attention &attention, uint32_t rows)
      : shape_(shape), attention_(attention), rows_(rows), op_(attention.logits->op) {}

  std::optional<Hiding> run() {
    Value logit = withoutCasts(op_.getBody()->getTerminator()->getOperand(attention_.weightsResult));
    if (attention_.isChain)
      return isHidingFactor(logit) ? finish() : std::nullopt;
    if (auto sum = logit.getDefiningOp<arith::AddFOp>()) {
      for (unsigned part : {0, 1})
        if (isHiding(withoutCasts(sum->getOperand(part)), /*isAdded=*/true)) {
          found_.shown = sum->getOperand(1 - part);
          return finish();
        }
      return std::nullopt;
    }
    return isHiding(logit, /*isAdded=*/false) ? finish() : std::nullopt;
  }

private:
  static Value withoutCasts(Value value) {
    while (isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    return value;
  }

  std::optional<Hiding> finish() {
    found_.isOnly = llvm::range_size(op_.getBody()->getOps<arith::SelectOp>()) == 1;
    return found_.areNone() ? std::nullopt : std::optional(found_);
  }

  bool hides(Value value) {
    if (attention_.isChain && !isExponent_)
      return found_.weighsNothing = isZero(value);
    FloatAttr number;
    if (!matchPattern(withoutCasts(value), m_Constant(&number)))
      return false;
    const APFloat &least = number.getValue();
    found_.weighsNothing = least.isInfinity();
    return least.isNegative() && (least.isInfinity() || least.isLargest() || number.getValueAsDouble() <= kHidden);
  }

  static bool isZero(Value value) {
    FloatAttr number;
    return matchPattern(withoutCasts(value), m_Constant(&number)) && number.getValue().isZero();
  }

  /// What is less than -1e20 where the key is hidden: -inf less anything, or times a constant above 0.
  bool isHidingExponent(Value value) {
    value = withoutCasts(value);
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != op_.getBody())
      return false;
    if (isa<arith::SubFOp>(op))
      return isHidingExponent(op->getOperand(0));
    if (isa<arith::MulFOp>(op)) {
      for (unsigned side : {0, 1}) {
        FloatAttr factor;
        if (matchPattern(op->getOperand(side), m_Constant(&factor)) && factor.getValueAsDouble() > 0)
          return isHidingExponent(op->getOperand(1 - side));
      }
      return false;
    }
    if (isa<arith::AddFOp>(op))
      return isHiding(withoutCasts(op->getOperand(0)), /*isAdded=*/true) ||
             isHiding(withoutCasts(op->getOperand(1)), /*isAdded=*/true);
    return isHiding(value, /*isAdded=*/false);
  }

  /// Of a weight that is a product: what hides a factor hides it.
  bool isHidingFactor(Value value) {
    value = withoutCasts(value);
    if (auto product = value.getDefiningOp<arith::MulFOp>(); product && product->getBlock() == op_.getBody())
      return isHidingFactor(product.getLhs()) || isHidingFactor(product.getRhs());
    if (isa_and_nonnull<math::ExpOp, math::Exp2Op>(value.getDefiningOp()) &&
        value.getDefiningOp()->getBlock() == op_.getBody()) {
      isExponent_ = true;
      const bool isHidden = isHidingExponent(value.getDefiningOp()->getOperand(0)) && found_.weighsNothing;
      isExponent_ = false;
      if (!isHidden)
        found_ = {};
      return isHidden;
    }
    return isHiding(value, /*isAdded=*/false);
  }

  bool isHiding(Value value, bool isAdded) {
    auto select = value.getDefiningOp<arith::SelectOp>();
    if (!select || select->getBlock() != op_.getBody())
      return false;
    for (bool seen : {true, false}) {
      Value shown = seen ? select.getTrueValue() : select.getFalseValue(),
            hidden = seen ? select.getFalseValue() : select.getTrueValue();
      if (!hides(hidden) || (isAdded && !isZero(shown)))
        continue;
      found_.isWhole = true;
      found_.shown = shown;
      addConditions(select.getCondition(), seen);
      if (!isAdded)
        addInner(shown);
      return true;
    }
    return false;
  }

  /// A choice behind the first one, which hides more keys in the same way.
  void addInner(Value shown) {
    const Hiding outer = found_;
    const bool hidesMore = isHiding(shown, /*isAdded=*/false) && found_.weighsNothing == outer.weighsNothing;
    if (hidesMore)
      found_.isWhole &= outer.isWhole;
    else
      found_ = outer;
  }

  /// All of what must be `seen` where a logit is seen.
  void addConditions(Value condition, bool seen) {
    Operation *op = condition.getDefiningOp();
    if (op && op->hasAttr(dispatch::kKeyRange) && addRange(op, seen))
      return;
    // Both of two that must hold, or neither of two that must not.
    if ((seen && isa_and_nonnull<arith::AndIOp>(op)) || (!seen && isa_and_nonnull<arith::OrIOp>(op))) {
      addConditions(op->getOperand(0), seen);
      addConditions(op->getOperand(1), seen);
      return;
    }
    std::optional<KeyBound> bound;
    if (auto comparison = dyn_cast_or_null<arith::CmpIOp>(op); comparison && comparison->getBlock() == op_.getBody())
      bound = boundOf(comparison, seen);
    if (bound) {
      found_.bounds.push_back(*bound);
      found_.inWhole.push_back({bound->comparison.getResult(), bound->holds});
    } else if (auto comparison = dyn_cast_or_null<arith::CmpIOp>(op); comparison && isOfRowsAlone(comparison)) {
      found_.rowBounds.push_back({comparison, seen});
      found_.inWhole.push_back({condition, seen});
    } else {
      found_.isWhole = false;
    }
  }

  /// In the form in which dispatch/attention/forms/key_ranges.h writes it: between two keys, and a condition or between
  /// two others; or, where the condition hides, the contrary.
  bool addRange(Operation *op, bool seen) {
    auto partsOf = [](Value value, bool isAnd) -> Operation * {
      Operation *both = value.getDefiningOp();
      return both && (isAnd ? isa<arith::AndIOp>(both) : isa<arith::OrIOp>(both)) ? both : nullptr;
    };
    auto limitOf = [](Value value) {
      auto comparison = value.getDefiningOp<arith::CmpIOp>();
      return comparison ? comparison.getRhs() : Value();
    };
    Operation *all = partsOf(op->getResult(0), seen), *inside = all ? partsOf(all->getOperand(0), seen) : nullptr,
              *either = all ? partsOf(all->getOperand(1), !seen) : nullptr,
              *whole = either ? partsOf(either->getOperand(1), seen) : nullptr;
    if (!inside || !whole)
      return false;
    const RowRange range{limitOf(inside->getOperand(0)), limitOf(inside->getOperand(1)), limitOf(whole->getOperand(0)),
                         limitOf(whole->getOperand(1)), whole->getResult(0)};
    for (Value limit : {range.from, range.to, range.wholeFrom, range.wholeTo})
      if (!limit)
        return false;
    // What was computed before follows from the condition.
    found_.always.push_back({inside->getResult(0), seen});
    found_.always.push_back({range.isWhole, !seen});
    if (!llvm::all_of(ArrayRef{range.from, range.to, range.wholeFrom, range.wholeTo},
                      [&](Value limit) { return isOfRowGroup(limit); })) {
      found_.isWhole = false;
      return true;
    }
    found_.ranges.push_back(range);
    found_.inWhole.push_back({either->getResult(0), seen});
    return true;
  }

  /// Whether it is the same for the rows of a tile from a multiple of 64 to the next, and for all keys.
  bool isOfRowGroup(Value value) {
    if (std::optional<Growth> growth = growthOf(value))
      return growth->keys == 0 && growth->rows == 0;
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != op_.getBody())
      return false;
    if (auto group = dyn_cast<arith::DivUIOp>(op)) {
      auto row = group.getLhs().getDefiningOp<linalg::IndexOp>();
      IntegerAttr rows;
      return row && matchPattern(group.getRhs(), m_Constant(&rows)) && rows.getInt() == dispatch::kRangeRows &&
             isOf(row.getDim(), attention_.scores.rows) && isOnlyRow(row.getDim()) &&
             (rows_ % dispatch::kRangeRows == 0 || dispatch::kRangeRows % rows_ == 0);
    }
    return llvm::all_of(op->getOperands(), [&](Value operand) { return isOfRowGroup(operand); });
  }

  /// Whether it compares indices, and what it says changes once from row to row, if at all.
  bool isOfRowsAlone(arith::CmpIOp comparison) {
    using P = arith::CmpIPredicate;
    const P given = comparison.getPredicate();
    const std::optional<Growth> left = growthOf(comparison.getLhs()), right = growthOf(comparison.getRhs());
    const bool isSigned = given == P::slt || given == P::sle || given == P::sgt || given == P::sge;
    const bool isUnsigned = given == P::ult || given == P::ule || given == P::ugt || given == P::uge;
    return comparison->getBlock() == op_.getBody() && left && right && left->keys == right->keys &&
           (isSigned || (isUnsigned && isNatural(comparison.getLhs()) && isNatural(comparison.getRhs())));
  }

  std::optional<KeyBound> boundOf(arith::CmpIOp comparison, bool holds) {
    using P = arith::CmpIPredicate;
    const P given = holds ? comparison.getPredicate() : arith::invertPredicate(comparison.getPredicate());
    const std::optional<Growth> left = growthOf(comparison.getLhs()), right = growthOf(comparison.getRhs());
    if (!left || !right)
      return std::nullopt;
    const bool isUnsigned = given == P::ult || given == P::ule || given == P::ugt || given == P::uge;
    // Indices are no negative numbers, but differences may be.
    if (isUnsigned && (!isNatural(comparison.getLhs()) || !isNatural(comparison.getRhs())))
      return std::nullopt;
    const bool isLess = given == P::slt || given == P::sle || given == P::ult || given == P::ule,
               isMore = given == P::sgt || given == P::sge || given == P::ugt || given == P::uge;
    if (!isLess && !isMore)
      return std::nullopt;
    KeyBound bound{comparison, holds, comparison.getLhs(), comparison.getRhs(), isLess, false, false};
    bound.orEqual = given == P::sle || given == P::ule || given == P::sge || given == P::uge;
    Growth growth{left->keys - right->keys, left->rows - right->rows};
    if (growth.keys == -1) {
      growth = {1, -growth.rows};
      std::swap(bound.x, bound.y);
      bound.isUpper = !bound.isUpper;
    }
    bound.followsRows = growth.rows == -1;
    if (growth.keys != 1 || (growth.rows != 0 && growth.rows != -1))
      return std::nullopt;
    return bound;
  }

  /// A sum of indices, or a number that is none of them.
  bool isNatural(Value value) {
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<linalg::IndexOp>(op))
      return true;
    if (isa_and_nonnull<arith::IndexCastOp, arith::ExtUIOp>(op))
      return isNatural(op->getOperand(0));
    if (isa_and_nonnull<arith::AddIOp>(op))
      return isNatural(op->getOperand(0)) && isNatural(op->getOperand(1));
    IntegerAttr number;
    return matchPattern(value, m_Constant(&number)) && !number.getValue().isNegative();
  }

  bool isOf(unsigned loop, ArrayRef<unsigned> axes) {
    const unsigned groupAxis = shape_.group.axisOf.lookup(op_)[loop];
    return llvm::any_of(axes, [&](unsigned axis) { return llvm::is_contained(shape_.axes[axis].axes, groupAxis); });
  }

  /// Nothing where it is not known, or another multiple.
  std::optional<Growth> growthOf(Value value) {
    if (value.getParentBlock() != op_.getBody())
      return Growth{};
    const Product &scores = attention_.scores;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      // An element: the same for all rows and keys, or anything.
      OpOperand *operand = op_.getMatchingOpOperand(argument);
      if (!isa<RankedTensorType>(operand->get().getType()))
        return Growth{};
      AffineMap map = op_.getMatchingIndexingMap(operand);
      for (unsigned loop = 0; loop < op_.getNumLoops(); ++loop)
        if (map.isFunctionOfDim(loop) && (isOf(loop, scores.rows) || isOf(loop, scores.columns)))
          return std::nullopt;
      return Growth{};
    }
    Operation *inner = value.getDefiningOp();
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      if (isOf(index.getDim(), {attention_.keys()}))
        return Growth{1, 0};
      if (isOf(index.getDim(), scores.columns)) // which head the key is of
        return std::nullopt;
      if (isOf(index.getDim(), scores.rows))
        return isOnlyRow(index.getDim()) || (isLastRow(index.getDim()) && wrappedRows(shape_, attention_, rows_))
                   ? std::optional(Growth{0, 1})
                   : std::nullopt;
      return Growth{};
    }
    SmallVector<Growth> operands;
    for (Value operand : inner->getOperands()) {
      const std::optional<Growth> growth = growthOf(operand);
      if (!growth)
        return std::nullopt;
      operands.push_back(*growth);
    }
    if (isa<arith::AddIOp>(inner))
      return Growth{operands[0].keys + operands[1].keys, operands[0].rows + operands[1].rows};
    if (isa<arith::SubIOp>(inner))
      return Growth{operands[0].keys - operands[1].keys, operands[0].rows - operands[1].rows};
    const bool isSame = llvm::all_of(operands, [](const Growth &each) { return each.keys == 0 && each.rows == 0; });
    if (isSame)
      return Growth{};
    return isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp, arith::ExtUIOp>(inner) && keepsOrder(inner)
               ? std::optional(operands[0])
               : std::nullopt;
  }

  /// Whether a cast of what is computed from indices is the same number: in narrow types indices begin anew, and as one
  /// without a sign a negative difference is a large number.
  bool keepsOrder(Operation *cast) {
    const Type type = cast->getResult(0).getType();
    return (type.isIndex() || type.getIntOrFloatBitWidth() >= dispatch::kIndexBits) &&
           (!isa<arith::ExtUIOp>(cast) || isNatural(cast->getOperand(0)));
  }

  bool isLastRow(unsigned loop) const {
    return shape_.group.axisOf.lookup(op_)[loop] == shape_.axes[attention_.scores.rows.back()].axes.back();
  }

  /// Whether the loop grows by one from row to row of a tile: it is the innermost of the rows, and tiles begin anew
  /// with it.
  bool isOnlyRow(unsigned loop) {
    const SmallVector<unsigned> &rows = attention_.scores.rows;
    const SpaceAxis &last = shape_.axes[rows.back()];
    if (!isLastRow(loop))
      return false;
    auto isOne = [](const Extent &extent) { return !extent.value && extent.size == 1; };
    bool others = false;
    for (unsigned axis : rows)
      for (const Extent &extent : shape_.axes[axis].extents)
        others |= &extent != &last.extents.back() && !isOne(extent);
    return !others || (!last.extents.back().value && last.extents.back().size % rows_ == 0);
  }

  const GroupShape &shape_;
  const Attention &attention_;
  const uint32_t rows_; // of a tile
  linalg::GenericOp op_;
  bool isExponent_ = false; // what is looked at is one, of a chain's weights
  Hiding found_;
};

} // namespace

std::optional<int64_t> wrappedRows(const GroupShape &shape, const Attention &attention, uint32_t rows) {
  const Extent &last = shape.axes[attention.scores.rows.back()].extents.back();
  return attention.tilesWrap && !last.value && last.size > 0 && last.size % rows != 0 ? std::optional(last.size)
                                                                                      : std::nullopt;
}

std::optional<Hiding> hidingOf(const GroupShape &shape, const Attention &attention, uint32_t rows) {
  if (attention.logits == attention.scores.op)
    return std::nullopt;
  return Finder(shape, attention, rows).run();
}

bool isPlain(const GroupShape &shape, const Attention &attention, uint32_t rows) {
  const std::optional<Hiding> hiding = hidingOf(shape, attention, rows);
  return attention.logits == attention.scores.op ||
         ((!hiding || hiding->isWhole) && scaleOf(attention, hiding).has_value());
}

bool hideTheSame(const GroupShape &shape, ArrayRef<Attention> parts, uint32_t rows) {
  auto areSame = [](const KeyBound &x, const KeyBound &y) {
    return x.comparison == y.comparison && x.holds == y.holds;
  };
  const std::optional<Hiding> first = hidingOf(shape, parts.front(), rows);
  return llvm::all_of(parts.drop_front(), [&](const Attention &part) {
    const std::optional<Hiding> other = hidingOf(shape, part, rows);
    if (!first || !other)
      return !first && !other;
    auto areSameRanges = [](const RowRange &x, const RowRange &y) { return x.isWhole == y.isWhole; };
    auto areSameRows = [](const RowBound &x, const RowBound &y) {
      return x.comparison == y.comparison && x.holds == y.holds;
    };
    if (!llvm::equal(first->ranges, other->ranges, areSameRanges) ||
        !llvm::equal(first->rowBounds, other->rowBounds, areSameRows))
      return false;
    return first->isWhole == other->isWhole && first->weighsNothing == other->weighsNothing &&
           llvm::equal(first->bounds, other->bounds, areSame);
  });
}

std::optional<double> scaleOf(const Attention &attention, const std::optional<Hiding> &hiding) {
  if (attention.logits == attention.scores.op)
    return std::nullopt;
  linalg::GenericOp op = attention.logits->op;
  Value shown = hiding ? hiding->shown : op.getBody()->getTerminator()->getOperand(0);
  auto isScore = [&](Value value) {
    auto score = dyn_cast<BlockArgument>(value);
    return score && score.getOwner() == op.getBody() &&
           op.getMatchingOpOperand(score)->get() == linalg::GenericOp(attention.scores.op->op)->getResult(0);
  };
  if (isScore(shown))
    return 1;
  auto product = shown.getDefiningOp<arith::MulFOp>();
  if (!product || product->getBlock() != op.getBody())
    return std::nullopt;
  for (unsigned side : {0, 1}) {
    FloatAttr factor;
    if (!isScore(product->getOperand(side)) || !matchPattern(product->getOperand(1 - side), m_Constant(&factor)))
      continue;
    const double scale = factor.getValueAsDouble();
    if (scale > 0 && std::isfinite(scale))
      return scale;
  }
  return std::nullopt;
}

} // namespace tenon::compiler::codegen
