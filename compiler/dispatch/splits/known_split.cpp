// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/splits/known_split.h"

#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/tile_pins.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/analysis/reduction_body.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

class Splitter {
public:
  Splitter(linalg::GenericOp op, const Split &split, const CentredParts *centred = nullptr)
      : op_(op), split_(split), centred_(centred), b_(op), loc_(op.getLoc()), accumulators_(*reductionBodyOf(op)) {}

  /// Nothing where it has to stay whole.
  std::optional<SplitSum> run();

private:
  Value elementsOfPart(OpBuilder &b, Type type);
  bool isNarrowProduct(Operation &inner);
  AffineMap withParts(AffineMap map) const;
  SmallVector<int64_t> shapeWithParts(ArrayRef<int64_t> shape, AffineMap map) const;
  Value indexInParts(OpBuilder &b, unsigned loop);
  Value filled(ArrayRef<int64_t> shape, TypedAttr value);
  SmallVector<Value> buildPartials();
  Value buildTotal(unsigned output, Value partial);
  Value narrowed(unsigned output, Value total);
  Type typeOf(unsigned output) {
    return accumulatorType(accumulators_[output].combiner,
                           cast<RankedTensorType>(op_->getResult(output).getType()).getElementType());
  }

  linalg::GenericOp op_;
  const Split split_;
  const CentredParts *const centred_; // null: the sum knows no center
  OpBuilder b_;
  Location loc_;
  SmallVector<Accumulator> accumulators_;
  llvm::DenseMap<Value, Value> viewOf_;
};

/// Whether the operation is a product that the sum alone takes in, of 16 bits where parts are sums of f32: as a whole
/// it would be one of a contraction, which multiplies exactly, and so it is in parts. Rounded it would be none.
bool Splitter::isNarrowProduct(Operation &inner) {
  if (!isa<arith::MulFOp>(inner) || !inner.hasOneUse() || !contractionOf(op_))
    return false;
  return llvm::any_of(llvm::enumerate(accumulators_), [&](const auto &each) {
    const bool isItsTerm =
        each.value().contributed == inner.getResult(0) && *inner.user_begin() == each.value().operation;
    return isItsTerm && isa<Float16Type, BFloat16Type>(inner.getResult(0).getType()) &&
           typeOf(unsigned(each.index())).isF32();
  });
}

/// The same elements by the loops of the partial reduction: a split loop is two, the parts before what is in a part.
/// Where it stands alone, so do both, as two dimensions; elsewhere it is what they make.
AffineMap Splitter::withParts(AffineMap map) const {
  if (split_.isWhole())
    return map;
  MLIRContext *context = map.getContext();
  SmallVector<AffineExpr> loops, results;
  for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
    loops.push_back(getAffineDimExpr(loop > split_.loop ? loop + 1 : loop, context));
  AffineExpr part = loops[split_.loop], inPart = getAffineDimExpr(split_.loop + 1, context);
  loops[split_.loop] = part * (split_.size / split_.parts) + inPart;
  for (AffineExpr expr : map.getResults()) {
    if (expr == getAffineDimExpr(split_.loop, context))
      results.append({part, inPart});
    else
      results.push_back(expr.replaceDims(loops));
  }
  return AffineMap::get(map.getNumDims() + 1, 0, results, context);
}

SmallVector<int64_t> Splitter::shapeWithParts(ArrayRef<int64_t> shape, AffineMap map) const {
  SmallVector<int64_t> result;
  for (auto [size, expr] : llvm::zip_equal(shape, map.getResults())) {
    const bool isSplit = expr == getAffineDimExpr(split_.loop, map.getContext()) && !split_.isWhole();
    if (isSplit)
      result.push_back(split_.parts);
    result.push_back(isSplit ? size / split_.parts : size);
  }
  return result;
}

/// The position of a loop of the whole reduction.
Value Splitter::indexInParts(OpBuilder &b, unsigned loop) {
  const unsigned behind = loop > split_.loop && !split_.isWhole() ? 1 : 0;
  Value index = linalg::IndexOp::create(b, loc_, loop + behind);
  if (loop != split_.loop || split_.isWhole())
    return index;
  Value size = arith::ConstantIndexOp::create(b, loc_, split_.size / split_.parts);
  Value inPart = linalg::IndexOp::create(b, loc_, loop + 1);
  return arith::AddIOp::create(b, loc_, arith::MulIOp::create(b, loc_, index, size), inPart);
}

Value Splitter::filled(ArrayRef<int64_t> shape, TypedAttr value) {
  Value scalar = arith::ConstantOp::create(b_, loc_, value);
  Value empty = tensor::EmptyOp::create(b_, loc_, shape, value.getType());
  return linalg::FillOp::create(b_, loc_, scalar, empty).getResult(0);
}

Value Splitter::elementsOfPart(OpBuilder &b, Type type) {
  int64_t elements = 1;
  for (auto [size, kind] : llvm::zip_equal(op_.getStaticLoopRanges(), op_.getIteratorTypesArray()))
    elements *= kind == utils::IteratorType::reduction ? size : 1;
  return arith::ConstantOp::create(b, loc_, b.getFloatAttr(type, double(elements / split_.parts)));
}

SmallVector<Value> Splitter::buildPartials() {
  SmallVector<Value> inputs, starts;
  SmallVector<AffineMap> maps;
  std::optional<size_t> center; // a part is centred by its own mean
  for (OpOperand *input : op_.getDpsInputOperands()) {
    if (centred_ && input == centred_->sum.center) {
      center = inputs.size();
      inputs.push_back(meansOfParts(b_, loc_, centred_->plain.partial,
                                    [&](OpBuilder &b, Type type) { return elementsOfPart(b, type); }));
      maps.emplace_back(); // that of the result
      continue;
    }
    AffineMap map = op_.getMatchingIndexingMap(input);
    maps.push_back(withParts(map));
    Value value = input->get();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && maps.back().getNumResults() != map.getNumResults()) {
      // Of one tensor one view: who reads both sums' parts reads them once.
      Value &view = viewOf_[value];
      if (!view)
        view = flow::TensorReshapeOp::create(b_, loc_, type.clone(shapeWithParts(type.getShape(), map)), value,
                                             ValueRange(), ValueRange());
      value = view;
    }
    inputs.push_back(value);
  }
  for (OpOperand &init : op_.getDpsInitsMutable()) {
    AffineMap map = withParts(op_.getMatchingIndexingMap(&init));
    SmallVector<int64_t> shape = llvm::to_vector(cast<RankedTensorType>(init.get().getType()).getShape());
    SmallVector<AffineExpr> results = llvm::to_vector(map.getResults());
    const size_t at = split_.isAcross ? 0 : results.size();
    results.insert(results.begin() + at, getAffineDimExpr(split_.loop, b_.getContext()));
    shape.insert(shape.begin() + at, split_.parts);
    maps.push_back(AffineMap::get(map.getNumDims(), 0, results, b_.getContext()));
    const unsigned output = init.getOperandNumber() - op_.getNumDpsInputs();
    starts.push_back(filled(shape, neutralOf(b_, accumulators_[output].combiner, typeOf(output))));
  }
  if (center)
    maps[*center] = maps.back();
  SmallVector<utils::IteratorType> types = op_.getIteratorTypesArray();
  types[split_.loop] = utils::IteratorType::parallel;
  if (!split_.isWhole())
    types.insert(types.begin() + split_.loop + 1, utils::IteratorType::reduction);
  auto partial = linalg::GenericOp::create(
      b_, loc_, TypeRange(ValueRange(starts)), inputs, starts, maps, types,
      [&](OpBuilder &b, Location, ValueRange arguments) {
        IRMapping values;
        const unsigned inputCount = inputs.size();
        for (unsigned i = 0; i < inputCount; ++i)
          values.map(op_.getBody()->getArgument(i), arguments[i]);
        if (center)
          values.map(centred_->sum.inBody, arguments[*center]);
        for (Operation &inner : op_.getBody()->without_terminator()) {
          if (isNarrowProduct(inner))
            continue; // its factors are multiplied as the sum is taken
          if (center && inner.getNumResults() == 1 && inner.getResult(0) == centred_->sum.inBody)
            continue; // it widens what is wide
          if (auto index = dyn_cast<linalg::IndexOp>(inner))
            values.map(index.getResult(), indexInParts(b, index.getDim()));
          else if (!llvm::any_of(accumulators_, [&](const Accumulator &each) { return each.operation == &inner; }))
            b.clone(inner, values);
        }
        SmallVector<Value> next;
        for (auto [output, accumulator] : llvm::enumerate(accumulators_)) {
          Operation *product = accumulator.contributed.getDefiningOp();
          Value term;
          if (product && isNarrowProduct(*product)) {
            auto wide = [&](Value factor) {
              return arith::ExtFOp::create(b, loc_, typeOf(output), values.lookupOrDefault(factor)).getResult();
            };
            Value left = wide(product->getOperand(0)), right = wide(product->getOperand(1));
            term = arith::MulFOp::create(b, loc_, left, right);
          } else {
            term = values.lookupOrDefault(accumulator.contributed);
          }
          next.push_back(combineBy(b, loc_, accumulator, arguments[inputCount + output], term));
        }
        linalg::YieldOp::create(b, loc_, next);
      });
  return llvm::to_vector_of<Value>(partial.getResults());
}

/// Partial results, and what the reduction starts from, once.
Value Splitter::buildTotal(unsigned output, Value partial) {
  Value start = op_.getDpsInits()[output];
  auto type = cast<RankedTensorType>(start.getType());
  if (type.getElementType() != typeOf(output)) {
    FloatAttr value;
    auto fill = start.getDefiningOp<linalg::FillOp>(); // run() has seen to it
    matchPattern(fill.getInputs()[0], m_Constant(&value));
    start = filled(type.getShape(), b_.getFloatAttr(typeOf(output), value.getValueAsDouble()));
  }
  const unsigned rank = type.getRank(), split = split_.isAcross ? 0 : rank;
  SmallVector<utils::IteratorType> types(rank + 1, utils::IteratorType::parallel);
  types[split] = utils::IteratorType::reduction;
  AffineMap read = b_.getMultiDimIdentityMap(rank + 1);
  SmallVector<Value> inputs = {partial};
  SmallVector<AffineMap> maps = {read};
  if (centred_) {
    llvm::append_range(inputs, ArrayRef{centred_->plain.partial, centred_->sum.center->get()});
    llvm::append_range(maps, ArrayRef{read, read.dropResult(split)});
  }
  maps.push_back(read.dropResult(split));
  auto total = linalg::GenericOp::create(
      b_, loc_, start.getType(), inputs, start, maps, types, [&](OpBuilder &b, Location, ValueRange arguments) {
        Value ofPart = arguments.front();
        if (centred_)
          ofPart = movedToCenter(b, loc_, ofPart, arguments[1], arguments[2],
                                 [&](OpBuilder &inside, Type type) { return elementsOfPart(inside, type); });
        linalg::YieldOp::create(b, loc_, combineBy(b, loc_, accumulators_[output], arguments.back(), ofPart));
      });
  dropTilePin(total); // it is the parts' kernel that is pinned
  return total.getResult(0);
}

Value Splitter::narrowed(unsigned output, Value total) {
  auto type = cast<RankedTensorType>(op_->getResult(output).getType());
  if (total.getType() == type)
    return total;
  Value empty = tensor::EmptyOp::create(b_, loc_, type.getShape(), type.getElementType());
  AffineMap map = b_.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> types(type.getRank(), utils::IteratorType::parallel);
  auto narrow = linalg::GenericOp::create(
      b_, loc_, type, total, empty, ArrayRef<AffineMap>{map, map}, types,
      [&](OpBuilder &b, Location, ValueRange arguments) {
        linalg::YieldOp::create(b, loc_,
                                arith::TruncFOp::create(b, loc_, type.getElementType(), arguments[0]).getResult());
      });
  return narrow.getResult(0);
}

std::optional<SplitSum> Splitter::run() {
  if (centred_)
    viewOf_ = centred_->plain.viewOf;
  for (auto [output, start] : llvm::enumerate(op_.getDpsInits())) {
    auto fill = start.getDefiningOp<linalg::FillOp>();
    const bool isConstant = fill && matchPattern(fill.getInputs()[0], m_Constant());
    if (!isConstant && cast<RankedTensorType>(start.getType()).getElementType() != typeOf(output))
      return std::nullopt; // a start in another type than that of the partial results
  }
  SmallVector<Value> partials = buildPartials(), results;
  // Output maps list the parallel loops in any order: the partial results have theirs in the same.
  for (auto [output, partial] : llvm::enumerate(partials))
    results.push_back(narrowed(output, buildTotal(output, partial)));
  op_->replaceAllUsesWith(results);
  op_->erase();
  return SplitSum{split_, partials.front(), viewOf_};
}

} // namespace

std::optional<SplitSum> splitKnown(linalg::GenericOp op, const Split &split, const CentredParts *centred) {
  return Splitter(op, split, centred).run();
}

void mergeSums(linalg::GenericOp outer, linalg::GenericOp parts) {
  auto inner = outer.getDpsInputs()[0].getDefiningOp<linalg::GenericOp>();
  if (!inner || !inner->hasOneUse() || inner.getDpsInputs()[0] != parts.getResult(0))
    return;
  // The parts of all, which lie in front, and the results.
  const unsigned loops = outer.getNumLoops() + 1, reduced = outer.getNumReductionLoops() + 1;
  OpBuilder b(outer);
  AffineMap read = b.getMultiDimIdentityMap(loops);
  AffineMap written = read.dropResults(llvm::to_vector(llvm::seq<int64_t>(0, reduced)));
  SmallVector<utils::IteratorType> types(loops, utils::IteratorType::parallel);
  std::fill_n(types.begin(), reduced, utils::IteratorType::reduction);
  auto merged = linalg::GenericOp::create(b, outer.getLoc(), outer->getResultTypes(), ValueRange{parts.getResult(0)},
                                          outer.getDpsInits(), ArrayRef<AffineMap>{read, written}, types,
                                          [&](OpBuilder &inside, Location, ValueRange arguments) {
                                            IRMapping values;
                                            values.map(outer.getBody()->getArguments(), arguments);
                                            for (Operation &each : *outer.getBody())
                                              inside.clone(each, values);
                                          });
  outer->replaceAllUsesWith(merged);
  outer->erase();
  inner->erase();
}

void splitInTurn(linalg::GenericOp op, ArrayRef<Split> splits) {
  linalg::GenericOp outer; // adds up the parts before
  for (const Split &split : splits) {
    const std::optional<SplitSum> sum = splitKnown(op, split);
    if (!sum)
      return;
    op = sum->partial.getDefiningOp<linalg::GenericOp>();
    if (outer)
      mergeSums(outer, op);
    outer = op->hasOneUse() ? dyn_cast<linalg::GenericOp>(*op->user_begin()) : linalg::GenericOp();
  }
}

} // namespace tenon::compiler::dispatch
