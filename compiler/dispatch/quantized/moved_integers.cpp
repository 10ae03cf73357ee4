// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/quantized/moved_integers.h"

#include "compiler/dispatch/analysis/dimensions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// What an operation that only moves elements takes them from.
struct Move {
  Value source;
  AffineMap map; // dimensions of the result -> of the source; null: a reshape, or places that are computed
};

/// The element that a body takes, where it yields that or 0, as a copy with zeros around it does; null: anything else.
tensor::ExtractOp takenOrZero(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 0)
    return {};
  auto select = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
  if (!select || !select.getType().isF32() || !matchPattern(select.getFalseValue(), m_PosZeroFloat()))
    return {};
  auto taken = select.getTrueValue().getDefiningOp<tensor::ExtractOp>();
  // Everything else computes places, and knows no element.
  auto isPlace = [](Value value) { return value.getType().isIntOrIndex(); };
  const bool isOnly =
      taken && taken->hasOneUse() && llvm::all_of(op.getBody()->without_terminator(), [&](Operation &each) {
        return &each == taken || &each == select || isa<arith::ConstantOp>(each) ||
               (!isa<tensor::ExtractOp>(each) && llvm::all_of(each.getOperands(), isPlace) &&
                llvm::all_of(each.getResults(), isPlace));
      });
  return isOnly && op.getBody()->getNumArguments() == 1 && op.getBody()->getArgument(0).use_empty()
             ? taken
             : tensor::ExtractOp();
}

std::optional<Move> moveOf(Operation *op) {
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return Move{op->getOperand(0), AffineMap()};
  auto moved = dyn_cast<linalg::LinalgOp>(op);
  if (!moved || !moved.hasPureTensorSemantics() || op->getNumResults() != 1 || moved.getNumReductionLoops() != 0 ||
      !moved.getIndexingMapsArray().back().isIdentity())
    return std::nullopt;
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    if (tensor::ExtractOp taken = takenOrZero(generic))
      return Move{taken.getTensor(), AffineMap()};
  const bool passesOn = moved.getNumDpsInputs() == 1 && llvm::hasSingleElement(*moved.getBlock()) &&
                        moved.getBlock()->getTerminator()->getOperand(0) == moved.getBlock()->getArgument(0);
  const AffineMap map = moved.getIndexingMapsArray().front();
  if (!passesOn || !isa<RankedTensorType>(op->getOperand(0).getType()) || !map.isProjectedPermutation())
    return std::nullopt;
  return Move{moved.getDpsInputs()[0], map};
}

/// Where scales of a tensor are by dimensions of its reshape; nothing where one of their dimensions is joined with
/// another one, or taken apart.
std::optional<AffineMap> reshaped(AffineMap scaleMap, Operation *op, unsigned rank) {
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
  auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
  if (scaleMap.getNumResults() != 0 && !collapse && !expand)
    return std::nullopt; // places are computed
  SmallVector<AffineExpr> places;
  for (AffineExpr expr : scaleMap.getResults()) {
    if (isa<AffineConstantExpr>(expr)) {
      places.push_back(expr);
      continue;
    }
    const unsigned from = cast<AffineDimExpr>(expr).getPosition();
    std::optional<unsigned> to;
    for (auto [single, several] :
         llvm::enumerate(collapse ? collapse.getReassociationIndices() : expand.getReassociationIndices())) {
      const unsigned joined = unsigned(single);
      if (collapse ? !llvm::is_contained(several, int64_t(from)) : joined != from)
        continue;
      // Of several dimensions all but one are of one element.
      auto type = cast<RankedTensorType>(collapse ? collapse.getSrcType() : expand.getResultType());
      auto isLong = [&](int64_t dimension) { return type.getDimSize(dimension) != 1; };
      if (llvm::count_if(several, isLong) != 1 || (collapse && !isLong(from)))
        return std::nullopt;
      to = collapse ? joined : unsigned(*llvm::find_if(several, isLong));
    }
    if (!to)
      return std::nullopt;
    places.push_back(getAffineDimExpr(*to, op->getContext()));
  }
  return AffineMap::get(rank, 0, places, op->getContext());
}

} // namespace

std::optional<MovedIntegers> movedIntegersOf(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return std::nullopt;
  const std::optional<Move> move = moveOf(op);
  if (!move) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    std::optional<Dequantized> numbers = generic ? dequantizedBy(generic) : std::nullopt;
    return numbers ? std::optional(MovedIntegers{std::move(*numbers), {}}) : std::nullopt;
  }
  std::optional<MovedIntegers> found = movedIntegersOf(move->source);
  if (!found)
    return std::nullopt;
  const std::optional<AffineMap> scaleMap =
      move->map ? found->numbers.scaleMap.compose(move->map)
                : reshaped(found->numbers.scaleMap, op, cast<RankedTensorType>(tensor.getType()).getRank());
  if (!scaleMap)
    return std::nullopt;
  found->numbers.scaleMap = *scaleMap;
  found->moves.insert(found->moves.begin(), op);
  return found;
}

AffineMap MovedIntegers::readThrough(AffineMap map) {
  while (!moves.empty()) {
    const std::optional<Move> move = moveOf(moves.front());
    if (!move->map)
      break;
    map = move->map.compose(map);
    moves.erase(moves.begin());
  }
  return map;
}

/// An operation with one tensor of integers for what it moves.
static Value moved(OpBuilder &b, Operation *op, Value integers, int64_t zero) {
  const Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(op->getResult(0).getType()).clone(b.getIntegerType(8));
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return tensor::CollapseShapeOp::create(b, loc, type, integers, collapse.getReassociation());
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return tensor::ExpandShapeOp::create(b, loc, type, integers, expand.getReassociation(), expand.getOutputShape(),
                                         expand.getStaticOutputShape());
  auto from = cast<linalg::LinalgOp>(op);
  SmallVector<Value> sizes = unknownSizesOf(b, loc, op->getResult(0));
  Value empty = tensor::EmptyOp::create(b, loc, type, sizes);
  const SmallVector<utils::IteratorType> loops(from.getNumLoops(), utils::IteratorType::parallel);
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || !takenOrZero(generic))
    return linalg::GenericOp::create(
               b, loc, TypeRange(type), integers, empty, from.getIndexingMapsArray(), loops,
               [&](OpBuilder &inner, Location at, ValueRange values) { linalg::YieldOp::create(inner, at, values[0]); })
        .getResult(0);
  return linalg::GenericOp::create(
             b, loc, TypeRange(type), ValueRange{}, empty, generic.getIndexingMapsArray(), loops,
             [&](OpBuilder &inner, Location at, ValueRange) {
               IRMapping mapping;
               for (Operation &each : generic.getBody()->without_terminator()) {
                 if (auto extract = dyn_cast<tensor::ExtractOp>(each)) {
                   SmallVector<Value> indices;
                   for (Value index : extract.getIndices())
                     indices.push_back(mapping.lookupOrDefault(index));
                   mapping.map(extract.getResult(),
                               tensor::ExtractOp::create(inner, at, integers, indices).getResult());
                 } else if (auto select = dyn_cast<arith::SelectOp>(each); select && select.getType().isF32()) {
                   Value outside = arith::ConstantOp::create(inner, at, inner.getI8IntegerAttr(int8_t(zero)));
                   mapping.map(select.getResult(),
                               arith::SelectOp::create(inner, at, mapping.lookupOrDefault(select.getCondition()),
                                                       mapping.lookupOrDefault(select.getTrueValue()), outside)
                                   .getResult());
                 } else {
                   inner.clone(each, mapping);
                 }
               }
               linalg::YieldOp::create(inner, at, mapping.lookup(generic.getBody()->getTerminator()->getOperand(0)));
             })
      .getResult(0);
}

Value MovedIntegers::buildSigned(OpBuilder &b, Location loc) const {
  Value value = numbers.integers;
  if (numbers.isUnsigned) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<Value> sizes = unknownSizesOf(b, loc, value);
    Value empty = tensor::EmptyOp::create(b, loc, type, sizes);
    const AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
    value = linalg::GenericOp::create(b, loc, TypeRange(type), value, empty, ArrayRef<AffineMap>{identity, identity},
                                      SmallVector<utils::IteratorType>(type.getRank(), utils::IteratorType::parallel),
                                      [&](OpBuilder &inner, Location at, ValueRange values) {
                                        Value top = arith::ConstantOp::create(inner, at, inner.getI8IntegerAttr(-128));
                                        linalg::YieldOp::create(
                                            inner, at, arith::XOrIOp::create(inner, at, values[0], top).getResult());
                                      })
                .getResult(0);
  }
  for (Operation *op : llvm::reverse(moves))
    value = moved(b, op, value, numbers.signedZero());
  return value;
}

} // namespace tenon::compiler::dispatch
