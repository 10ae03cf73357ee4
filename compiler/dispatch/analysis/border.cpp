// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/border.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// The value by the loops of the body; null where it is computed in any other way.
AffineExpr exprOf(Value value) {
  MLIRContext *context = value.getContext();
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return getAffineConstantExpr(*number, context);
  Operation *op = value.getDefiningOp();
  if (!op || !value.getType().isIndex())
    return {};
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return getAffineDimExpr(index.getDim(), context);
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    SmallVector<AffineExpr> operands;
    for (Value operand : apply.getMapOperands())
      if (!operands.emplace_back(exprOf(operand)))
        return {};
    const AffineMap map = apply.getAffineMap();
    return map.getResult(0).replaceDimsAndSymbols(ArrayRef(operands).take_front(map.getNumDims()),
                                                  ArrayRef(operands).drop_front(map.getNumDims()));
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return {};
  AffineExpr left = exprOf(op->getOperand(0)), right = exprOf(op->getOperand(1));
  if (!left || !right)
    return {};
  if (isa<arith::AddIOp>(op))
    return left + right;
  if (isa<arith::SubIOp>(op))
    return left - right;
  return isa<AffineConstantExpr>(left) || isa<AffineConstantExpr>(right) ? left * right : AffineExpr();
}

/// The index without clamps that change nothing between 0 and `size`.
Value withoutClamps(Value index, int64_t size) {
  while (Operation *op = index.getDefiningOp()) {
    if (!isa<arith::MinSIOp, arith::MaxSIOp>(op))
      break;
    const std::optional<int64_t> limit = getConstantIntValue(op->getOperand(1));
    if (!limit || (isa<arith::MinSIOp>(op) ? *limit < size - 1 : *limit > 0))
      break;
    index = op->getOperand(0);
  }
  return index;
}

/// An index: what an expression is divided by, which it is a multiple of.
struct Place {
  AffineExpr expr; // null: anything else
  int64_t step = 1;
};

Place placeOf(Value index) {
  auto division = index.getDefiningOp<arith::DivUIOp>();
  const std::optional<int64_t> step = division ? getConstantIntValue(division.getRhs()) : std::nullopt;
  return step && *step > 1 ? Place{exprOf(division.getLhs()), *step} : Place{exprOf(index)};
}

/// What holds inside: the place is at least 0 and below `size`; or, without one, the expression is a multiple of the
/// step.
struct Bound {
  Place place;
  std::optional<int64_t> size;
  bool isUsed = false;
};

/// All that holds together where `condition` does; false where something else is asked, too.
bool collectBounds(Value condition, SmallVectorImpl<Bound> &bounds) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return collectBounds(both.getLhs(), bounds) && collectBounds(both.getRhs(), bounds);
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  const std::optional<int64_t> number = compare ? getConstantIntValue(compare.getRhs()) : std::nullopt;
  if (!number)
    return false;
  if (compare.getPredicate() == arith::CmpIPredicate::ult) {
    bounds.push_back({placeOf(compare.getLhs()), *number});
    return bool(bounds.back().place.expr);
  }
  auto rest = compare.getLhs().getDefiningOp<arith::RemUIOp>();
  const std::optional<int64_t> step = rest ? getConstantIntValue(rest.getRhs()) : std::nullopt;
  if (compare.getPredicate() != arith::CmpIPredicate::eq || *number != 0 || !step)
    return false;
  bounds.push_back({{exprOf(rest.getLhs()), *step}, std::nullopt});
  return bool(bounds.back().place.expr);
}

/// Whether the expression lies between 0 and `size` at every position of the loops.
bool staysInside(const LinearExpr &expr, ArrayRef<int64_t> loops, int64_t size) {
  int64_t least = expr.offset, most = expr.offset;
  for (auto [factor, length] : llvm::zip_equal(expr.factors, loops))
    if (factor != 0)
      (factor < 0 ? least : most) += factor * (length - 1);
  return least >= 0 && most < size;
}

/// The index of a loop of one step is folded to 0 wherever it stands. The image has it back, as the other tensors that
/// a loop indexes have theirs: what sums over it, and what no other input tells.
void addLoopsOfOne(linalg::GenericOp op, ArrayRef<int64_t> loops, SmallVectorImpl<AffineExpr> &places) {
  auto isIn = [](ArrayRef<AffineExpr> exprs, unsigned loop) {
    return llvm::any_of(exprs, [&](AffineExpr expr) { return expr.isFunctionOfDim(loop); });
  };
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray())) {
    const bool isOther =
        type == utils::IteratorType::parallel && llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
          return isIn(op.getMatchingIndexingMap(input).getResults(), loop);
        });
    if (loops[loop] != 1 || isOther || isIn(places, loop) || places.size() < 2)
      continue;
    auto *place = llvm::find_if(places, [](AffineExpr expr) { return isa<AffineConstantExpr>(expr); });
    place = place < places.end() - 1 ? place : places.begin();
    *place = *place + getAffineDimExpr(loop, op.getContext());
  }
}

} // namespace

std::optional<LinearExpr> LinearExpr::of(AffineExpr expr, unsigned dimensions) {
  SmallVector<int64_t> flat;
  if (failed(getFlattenedAffineExpr(expr, dimensions, 0, &flat)) || flat.size() != dimensions + 1)
    return std::nullopt;
  LinearExpr linear;
  linear.offset = flat.pop_back_val();
  linear.factors = std::move(flat);
  return linear;
}

namespace {

/// A border or an image with zeros between its elements.
struct Found {
  Border border;
  SmallVector<int64_t> steps;
};

/// The parallel loop that an index of a dimension of unknown size is; null where it is anything else.
AffineExpr loopOfUnknown(Value index, linalg::GenericOp op) {
  auto loop = dyn_cast_or_null<AffineDimExpr>(exprOf(index));
  const bool isOfImages = loop && ShapedType::isDynamic(op.getStaticLoopRanges()[loop.getPosition()]) &&
                          op.getIteratorTypesArray()[loop.getPosition()] == utils::IteratorType::parallel;
  return isOfImages ? loop : AffineExpr();
}

std::optional<Found> find(Value value, linalg::GenericOp op, Attribute outside, bool mayBeUnknown = false) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  auto read = select ? select.getTrueValue().getDefiningOp<tensor::ExtractOp>() : tensor::ExtractOp();
  if (!read || select->getBlock() != op.getBody() || read->getBlock() != op.getBody())
    return std::nullopt;
  Attribute otherwise;
  if (!matchPattern(select.getFalseValue(), m_Constant(&otherwise)) || otherwise != outside)
    return std::nullopt;
  auto image = cast<RankedTensorType>(read.getTensor().getType());
  const SmallVector<int64_t> loops = op.getStaticLoopRanges();
  SmallVector<Bound> bounds;
  const bool isKnown = image.hasStaticShape() && !llvm::is_contained(loops, ShapedType::kDynamic);
  if ((!isKnown && !mayBeUnknown) || image.getRank() == 0 || llvm::is_contained(image.getShape(), 0) ||
      llvm::is_contained(loops, 0) || !collectBounds(select.getCondition(), bounds))
    return std::nullopt;

  Found found{{read.getTensor(), {}, {}}, {}};
  SmallVector<AffineExpr> places;
  for (auto [index, size] : llvm::zip_equal(read.getIndices(), image.getShape())) {
    if (ShapedType::isDynamic(size)) {
      places.push_back(loopOfUnknown(index, op));
      if (!places.back())
        return std::nullopt;
      found.border.mayLeave.push_back(false);
      found.steps.push_back(1);
      continue;
    }
    const Place place = placeOf(withoutClamps(index, size));
    const std::optional<LinearExpr> linear = place.expr ? LinearExpr::of(place.expr, loops.size()) : std::nullopt;
    if (!linear || llvm::any_of(llvm::zip_equal(linear->factors, loops), [](auto each) {
          return std::get<0>(each) != 0 && ShapedType::isDynamic(std::get<1>(each));
        }))
      return std::nullopt;
    auto boundOf = [&](std::optional<int64_t> length) {
      return llvm::find_if(bounds, [&](const Bound &each) {
        return each.size == length && each.place.step == place.step &&
               simplifyAffineExpr(each.place.expr - place.expr, loops.size(), 0) ==
                   getAffineConstantExpr(0, op.getContext());
      });
    };
    auto *bound = boundOf(size), *multiple = boundOf(std::nullopt);
    const bool isInside = place.step == 1 && staysInside(*linear, loops, size);
    if (bound != bounds.end())
      bound->isUsed = true;
    else if (!isInside)
      return std::nullopt;
    if (multiple != bounds.end())
      multiple->isUsed = true;
    else if (place.step != 1)
      return std::nullopt;
    places.push_back(place.expr);
    found.border.mayLeave.push_back(!isInside);
    found.steps.push_back(place.step);
  }
  if (!llvm::all_of(bounds, [](const Bound &each) { return each.isUsed; }))
    return std::nullopt;
  addLoopsOfOne(op, loops, places);
  found.border.map = AffineMap::get(loops.size(), 0, places, op.getContext());
  return found;
}

Attribute zeroOf(Value value) {
  return Builder(value.getContext()).getZeroAttr(value.getType());
}

} // namespace

std::optional<Border> borderOf(Value value, linalg::GenericOp op, Attribute outside) {
  const std::optional<Found> found = find(value, op, outside);
  const bool isDense = found && llvm::all_of(found->steps, [](int64_t step) { return step == 1; });
  return isDense ? std::optional(found->border) : std::nullopt;
}

std::optional<Border> borderOf(Value value, linalg::GenericOp op) {
  return borderOf(value, op, zeroOf(value));
}

std::optional<Border> borderOfUnknown(Value value, linalg::GenericOp op) {
  return borderOfUnknown(value, op, zeroOf(value));
}

std::optional<Border> borderOfUnknown(Value value, linalg::GenericOp op, Attribute outside) {
  const std::optional<Found> found = find(value, op, outside, /*mayBeUnknown=*/true);
  const bool isDense = found && llvm::all_of(found->steps, [](int64_t step) { return step == 1; });
  return isDense ? std::optional(found->border) : std::nullopt;
}

std::optional<DilatedImage> dilatedImageOf(Value value, linalg::GenericOp op) {
  const std::optional<Found> found = find(value, op, zeroOf(value));
  return found ? std::optional(DilatedImage{found->border.image, found->border.map, found->steps}) : std::nullopt;
}

} // namespace tenon::compiler::dispatch
