// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/splits/ragged_split.h"

#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/flow/prefix.h"
#include "compiler/dialect/tile_pins.h"
#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/reduction_body.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

unsigned loopOf(AffineExpr expr) {
  return cast<AffineDimExpr>(expr).getPosition();
}

class RaggedSplitter {
public:
  RaggedSplitter(linalg::GenericOp op, unsigned loop, bool isWhole, const RaggedCentre *centred)
      : op_(op), loop_(loop), isWhole_(isWhole), centred_(centred), b_(op), loc_(op.getLoc()),
        accumulators_(*reductionBodyOf(op)) {}

  std::optional<RaggedSum> run(const std::optional<RaggedLimits> &limits);

private:
  Value number(int64_t value) { return arith::ConstantIndexOp::create(b_, loc_, value); }
  template <typename Op> Value make(Value x, Value y) { return b_.createOrFold<Op>(loc_, x, y); }
  OpFoldResult folded(Value value) { return getAsOpFoldResult(value); }
  Value sizeOf(unsigned loop) { return loopSize(b_, op_, loop); }
  Value partsOf(Value tensor);
  Value filled(ArrayRef<OpFoldResult> shape, TypedAttr value);
  SmallVector<Value> buildPartials();
  Value buildTotal(unsigned output, Value partial);
  Value rowBehindParts(OpBuilder &b, unsigned output, ValueRange others);
  Value elementsOfPart(OpBuilder &b, Type type);
  Value centredOfPart(OpBuilder &b, Value squares, Value sum, Value center);
  Value combined(OpBuilder &b, unsigned output, Value sum, Value value) {
    return combineBy(b, loc_, accumulators_[output], sum, value);
  }
  Value narrowed(unsigned output, Value total);
  void copyBody(OpBuilder &b, IRMapping &values, llvm::function_ref<Value(unsigned)> indexOf);
  AffineMap outputMap(unsigned output) { return op_.getMatchingIndexingMap(op_.getDpsInitOperand(output)); }
  bool hasLoop(OpOperand *input) { return op_.getMatchingIndexingMap(input).isFunctionOfDim(loop_); }
  Type typeOf(unsigned output) {
    return accumulatorType(accumulators_[output].combiner,
                           cast<RankedTensorType>(op_->getResult(output).getType()).getElementType());
  }

  linalg::GenericOp op_;
  const unsigned loop_;
  const bool isWhole_;                // each position of the loop is a part
  const RaggedCentre *const centred_; // null: the sum knows no center
  OpBuilder b_;
  Location loc_;
  SmallVector<Accumulator> accumulators_;
  Value size_, parts_, inPart_; // rows, parts, rows of a part
  Value inRow_;                 // elements of a part that one row has
  llvm::DenseMap<Value, Value> viewOf_;
};

/// The first rows of a tensor, as parts.
Value RaggedSplitter::partsOf(Value tensor) {
  // Of one tensor one view: who reads the parts of two sums reads them once.
  if (Value known = viewOf_.lookup(tensor))
    return known;
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> shape = {folded(parts_), folded(inPart_)};
  SmallVector<Value> sourceDims;
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
    Value size = dimensionOf(b_, loc_, tensor, dimension);
    if (type.isDynamicDim(dimension))
      sourceDims.push_back(size);
    if (dimension != 0)
      shape.push_back(type.isDynamicDim(dimension) ? OpFoldResult(size) : b_.getIndexAttr(type.getDimSize(dimension)));
  }
  SmallVector<int64_t> sizes;
  SmallVector<Value> dims;
  dispatchIndexOpFoldResults(shape, dims, sizes);
  auto view = flow::TensorReshapeOp::create(b_, loc_, RankedTensorType::get(sizes, type.getElementType()), tensor,
                                            sourceDims, dims);
  view->setAttr(flow::kPrefixAttr, b_.getUnitAttr());
  return viewOf_[tensor] = view;
}

Value RaggedSplitter::filled(ArrayRef<OpFoldResult> shape, TypedAttr value) {
  Value scalar = arith::ConstantOp::create(b_, loc_, value);
  Value empty = tensor::EmptyOp::create(b_, loc_, shape, value.getType());
  return linalg::FillOp::create(b_, loc_, scalar, empty).getResult(0);
}

/// How many elements a part has, as a number of the type.
Value RaggedSplitter::elementsOfPart(OpBuilder &b, Type type) {
  Value elements = arith::MulIOp::create(b, loc_, inPart_, inRow_);
  Value wide = arith::IndexCastOp::create(b, loc_, b.getI64Type(), elements);
  return arith::SIToFPOp::create(b, loc_, type, wide);
}

/// The squares of a part around the center of the whole. Of a part without elements there is no mean to move them from.
Value RaggedSplitter::centredOfPart(OpBuilder &b, Value squares, Value sum, Value center) {
  Value moved = movedToCenter(b, loc_, squares, sum, center,
                              [&](OpBuilder &inside, Type type) { return elementsOfPart(inside, type); });
  APInt inRow;
  if (matchPattern(inRow_, m_ConstantInt(&inRow)) && !inRow.isZero()) // there is no part without rows
    return moved;
  Value none = arith::ConstantIndexOp::create(b, loc_, 0);
  Value isEmpty = arith::CmpIOp::create(b, loc_, arith::CmpIPredicate::eq, inRow_, none);
  return arith::SelectOp::create(b, loc_, isEmpty, squares, moved);
}

SmallVector<Value> RaggedSplitter::buildPartials() {
  MLIRContext *context = b_.getContext();
  auto moved = [&](AffineExpr expr) {
    return getAffineDimExpr(loopOf(expr) > loop_ && !isWhole_ ? loopOf(expr) + 1 : loopOf(expr), context);
  };
  const unsigned loops = op_.getNumLoops() + (isWhole_ ? 0 : 1);
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
    SmallVector<AffineExpr> results;
    for (AffineExpr expr : op_.getMatchingIndexingMap(input).getResults()) {
      results.push_back(moved(expr));
      if (loopOf(expr) == loop_ && !isWhole_)
        results.push_back(getAffineDimExpr(loop_ + 1, context));
    }
    inputs.push_back(hasLoop(input) && !isWhole_ ? partsOf(input->get()) : input->get());
    maps.push_back(AffineMap::get(loops, 0, results, context));
  }
  for (unsigned output = 0; output < accumulators_.size(); ++output) {
    SmallVector<AffineExpr> results = {getAffineDimExpr(loop_, context)};
    SmallVector<OpFoldResult> shape = {folded(parts_)};
    for (AffineExpr expr : outputMap(output).getResults()) {
      results.push_back(moved(expr));
      shape.push_back(folded(sizeOf(loopOf(expr))));
    }
    maps.push_back(AffineMap::get(loops, 0, results, context));
    starts.push_back(filled(shape, neutralOf(b_, accumulators_[output].combiner, typeOf(output))));
  }
  if (center)
    maps[*center] = maps.back();
  SmallVector<utils::IteratorType> types = op_.getIteratorTypesArray();
  types[loop_] = utils::IteratorType::parallel;
  if (!isWhole_)
    types.insert(types.begin() + loop_ + 1, utils::IteratorType::reduction);
  auto partial = linalg::GenericOp::create(
      b_, loc_, TypeRange(ValueRange(starts)), inputs, starts, maps, types,
      [&](OpBuilder &b, Location, ValueRange arguments) {
        IRMapping values;
        for (size_t i = 0; i < inputs.size(); ++i)
          values.map(op_.getBody()->getArgument(i), arguments[i]);
        if (center)
          values.map(centred_->sum.inBody, arguments[*center]);
        copyBody(b, values, [&](unsigned loop) -> Value {
          Value index = linalg::IndexOp::create(b, loc_, loop > loop_ && !isWhole_ ? loop + 1 : loop);
          if (loop != loop_ || isWhole_)
            return index;
          Value inPart = linalg::IndexOp::create(b, loc_, loop + 1);
          return arith::AddIOp::create(b, loc_, arith::MulIOp::create(b, loc_, index, inPart_), inPart);
        });
        SmallVector<Value> next;
        for (unsigned output = 0; output < accumulators_.size(); ++output)
          next.push_back(combined(b, output, arguments[inputs.size() + output],
                                  values.lookupOrDefault(accumulators_[output].contributed)));
        linalg::YieldOp::create(b, loc_, next);
      });
  return llvm::to_vector_of<Value>(partial.getResults());
}

/// The body but for what combines its value with the accumulators. `indexOf`: the position of a loop of the reduction.
void RaggedSplitter::copyBody(OpBuilder &b, IRMapping &values, llvm::function_ref<Value(unsigned)> indexOf) {
  for (Operation &inner : op_.getBody()->without_terminator()) {
    if (inner.getNumResults() == 1 && values.contains(inner.getResult(0)))
      continue; // what a center is widened to is wide
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      values.map(index.getResult(), indexOf(index.getDim()));
    else if (!llvm::any_of(accumulators_, [&](const Accumulator &each) { return each.operation == &inner; }))
      b.clone(inner, values);
  }
}

/// What the row behind the parts that has the part's number contributes to the output; what changes nothing where there
/// is none. `others`: elements of the inputs that have no rows, in order.
Value RaggedSplitter::rowBehindParts(OpBuilder &b, unsigned output, ValueRange others) {
  Value row = arith::AddIOp::create(b, loc_, arith::MulIOp::create(b, loc_, parts_, inPart_),
                                    linalg::IndexOp::create(b, loc_, 0));
  Value exists = arith::CmpIOp::create(b, loc_, arith::CmpIPredicate::ult, row, size_);
  Value one = arith::ConstantIndexOp::create(b, loc_, 1);
  Value place = arith::MinUIOp::create(b, loc_, row, arith::SubIOp::create(b, loc_, size_, one));
  AffineMap results = outputMap(output);
  IRMapping values;
  for (OpOperand *input : op_.getDpsInputOperands()) {
    BlockArgument argument = op_.getMatchingBlockArgument(input);
    if (!hasLoop(input)) {
      values.map(argument, others.front());
      others = others.drop_front();
      continue;
    }
    SmallVector<Value> indices;
    for (AffineExpr expr : op_.getMatchingIndexingMap(input).getResults()) {
      const auto *found = llvm::find(results.getResults(), expr);
      indices.push_back(loopOf(expr) == loop_
                            ? place
                            : linalg::IndexOp::create(b, loc_, 1 + (found - results.getResults().begin())).getResult());
    }
    values.map(argument, tensor::ExtractOp::create(b, loc_, input->get(), indices).getResult());
  }
  copyBody(b, values, [&](unsigned loop) -> Value {
    if (loop == loop_)
      return row;
    const auto *found = llvm::find(results.getResults(), b.getAffineDimExpr(loop));
    return linalg::IndexOp::create(b, loc_, 1 + (found - results.getResults().begin()));
  });
  Value value = values.lookupOrDefault(accumulators_[output].contributed);
  if (value.getType() != typeOf(output))
    value = arith::ExtFOp::create(b, loc_, typeOf(output), value);
  Value none = arith::ConstantOp::create(b, loc_, neutralOf(b_, accumulators_[output].combiner, typeOf(output)));
  return arith::SelectOp::create(b, loc_, exists, value, none);
}

Value RaggedSplitter::buildTotal(unsigned output, Value partial) {
  Value start = op_.getDpsInits()[output];
  auto type = cast<RankedTensorType>(start.getType());
  const unsigned rank = type.getRank();
  if (type.getElementType() != typeOf(output)) {
    FloatAttr value;
    auto fill = start.getDefiningOp<linalg::FillOp>(); // run() has seen to it
    matchPattern(fill.getInputs()[0], m_Constant(&value));
    SmallVector<OpFoldResult> shape;
    for (AffineExpr expr : outputMap(output).getResults())
      shape.push_back(folded(sizeOf(loopOf(expr))));
    start = filled(shape, b_.getFloatAttr(typeOf(output), value.getValueAsDouble()));
  }
  AffineMap read = b_.getMultiDimIdentityMap(rank + 1);
  SmallVector<Value> inputs = {partial};
  SmallVector<AffineMap> maps = {read};
  AffineMap results = outputMap(output);
  for (OpOperand *input : op_.getDpsInputOperands()) {
    if (hasLoop(input) || isWhole_)
      continue;
    SmallVector<AffineExpr> exprs;
    for (AffineExpr expr : op_.getMatchingIndexingMap(input).getResults())
      exprs.push_back(b_.getAffineDimExpr(1 + (llvm::find(results.getResults(), expr) - results.getResults().begin())));
    inputs.push_back(input->get());
    maps.push_back(AffineMap::get(rank + 1, 0, exprs, b_.getContext()));
  }
  if (centred_) {
    llvm::append_range(inputs, ArrayRef{centred_->plain.partial, centred_->sum.center->get()});
    llvm::append_range(maps, ArrayRef{read, read.dropResult(0)});
  }
  maps.push_back(read.dropResult(0));
  SmallVector<utils::IteratorType> types(rank + 1, utils::IteratorType::parallel);
  types[0] = utils::IteratorType::reduction;
  auto total = linalg::GenericOp::create(
      b_, loc_, start.getType(), inputs, start, maps, types, [&](OpBuilder &b, Location, ValueRange arguments) {
        Value ofPart = arguments.front();
        ValueRange others = arguments.drop_front().drop_back(centred_ ? 3 : 1);
        if (centred_) {
          ValueRange last = arguments.drop_back().take_back(2);
          ofPart = centredOfPart(b, ofPart, last[0], last[1]);
        }
        if (!isWhole_)
          ofPart = combined(b, output, rowBehindParts(b, output, others), ofPart);
        linalg::YieldOp::create(b, loc_, combined(b, output, arguments.back(), ofPart));
      });
  dropTilePin(total); // it is the parts' kernel that is pinned
  return total.getResult(0);
}

Value RaggedSplitter::narrowed(unsigned output, Value total) {
  auto type = cast<RankedTensorType>(op_->getResult(output).getType());
  if (cast<RankedTensorType>(total.getType()).getElementType() == type.getElementType())
    return total;
  SmallVector<OpFoldResult> shape;
  for (AffineExpr expr : outputMap(output).getResults())
    shape.push_back(folded(sizeOf(loopOf(expr))));
  Value empty = tensor::EmptyOp::create(b_, loc_, shape, type.getElementType());
  AffineMap map = b_.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> types(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(b_, loc_, empty.getType(), total, empty, ArrayRef<AffineMap>{map, map}, types,
                                   [&](OpBuilder &b, Location, ValueRange arguments) {
                                     Value narrow =
                                         arith::TruncFOp::create(b, loc_, type.getElementType(), arguments[0]);
                                     linalg::YieldOp::create(b, loc_, narrow);
                                   })
      .getResult(0);
}

/// How many elements a row of the reduction has.
void bound(Value reduction, int64_t least, int64_t most) {
  Operation *op = reduction.getDefiningOp();
  op->setAttr(kRowBoundsAttr, DenseI64ArrayAttr::get(op->getContext(), {least, most}));
}

std::optional<RaggedSum> RaggedSplitter::run(const std::optional<RaggedLimits> &limits) {
  for (auto [output, start] : llvm::enumerate(op_.getDpsInits())) {
    auto fill = start.getDefiningOp<linalg::FillOp>();
    const bool isConstant = fill && matchPattern(fill.getInputs()[0], m_Constant());
    if (!isConstant && cast<RankedTensorType>(start.getType()).getElementType() != typeOf(output))
      return std::nullopt; // a start in another type than that of the partial results
  }
  if (centred_) {
    std::tie(size_, parts_, inPart_) = std::tie(centred_->plain.size, centred_->plain.parts, centred_->plain.inPart);
    viewOf_ = centred_->plain.viewOf;
  } else if (isWhole_) {
    size_ = parts_ = sizeOf(loop_);
    inPart_ = number(1);
  } else {
    const RaggedParts chosen = raggedParts(b_, op_, loop_, *limits);
    std::tie(size_, parts_, inPart_) = std::tie(chosen.size, chosen.parts, chosen.inPart);
  }
  inRow_ = number(1);
  for (auto [loop, type] : llvm::enumerate(op_.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction && loop != loop_)
      inRow_ = make<arith::MulIOp>(inRow_, sizeOf(loop));
  SmallVector<Value> partials = buildPartials(), results;
  if (limits && limits->isLong)
    bound(partials.front(), limits->least, -1);
  for (auto [output, partial] : llvm::enumerate(partials)) {
    Value total = buildTotal(output, partial);
    if (limits && limits->isLong)
      bound(total, 0, limits->wanted); // of nothing
    Value result = narrowed(output, total);
    Type wanted = op_->getResult(output).getType(); // sizes that were computed may be known, or not any more
    results.push_back(result.getType() == wanted ? result
                                                 : tensor::CastOp::create(b_, loc_, wanted, result).getResult());
  }
  op_->replaceAllUsesWith(results);
  op_->erase();
  return RaggedSum{loop_, isWhole_, size_, parts_, inPart_, partials.front(), viewOf_};
}

} // namespace

std::optional<RaggedSum> splitRagged(linalg::GenericOp op, unsigned loop, std::optional<RaggedLimits> limits,
                                     const RaggedCentre *centred) {
  const bool isWhole = centred ? centred->plain.isWhole : !limits;
  return RaggedSplitter(op, loop, isWhole, centred).run(limits);
}

} // namespace tenon::compiler::dispatch
