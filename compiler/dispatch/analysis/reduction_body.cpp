// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/reduction_body.h"

#include "compiler/dispatch/analysis/slices.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

std::optional<Combiner> combinerOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Combiner>>(op)
      .Case<arith::AddFOp>([](auto) { return Combiner::AddF; })
      .Case<arith::AddIOp>([](auto) { return Combiner::AddI; })
      .Case<arith::MulFOp>([](auto) { return Combiner::MulF; })
      .Case<arith::MulIOp>([](auto) { return Combiner::MulI; })
      .Case<arith::MaximumFOp>([](auto) { return Combiner::MaximumF; })
      .Case<arith::MinimumFOp>([](auto) { return Combiner::MinimumF; })
      .Case<arith::MaxNumFOp>([](auto) { return Combiner::MaxNumF; })
      .Case<arith::MinNumFOp>([](auto) { return Combiner::MinNumF; })
      .Case<arith::MaxSIOp>([](auto) { return Combiner::MaxS; })
      .Case<arith::MaxUIOp>([](auto) { return Combiner::MaxU; })
      .Case<arith::MinSIOp>([](auto) { return Combiner::MinS; })
      .Case<arith::MinUIOp>([](auto) { return Combiner::MinU; })
      .Case<arith::AndIOp>([](auto) { return Combiner::And; })
      .Case<arith::OrIOp>([](auto) { return Combiner::Or; })
      .Case<arith::XOrIOp>([](auto) { return Combiner::Xor; })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace

bool knowsAccumulator(Value value, linalg::GenericOp op, llvm::SmallDenseMap<Value, bool> &known) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == op.getBody() && argument.getArgNumber() >= op.getNumDpsInputs();
  Operation *producer = value.getDefiningOp();
  if (producer->getBlock() != op.getBody())
    return false;
  if (auto found = known.find(value); found != known.end())
    return found->second;
  const bool knows =
      llvm::any_of(producer->getOperands(), [&](Value operand) { return knowsAccumulator(operand, op, known); });
  return known[value] = knows;
}

std::optional<SmallVector<Accumulator>> reductionBodyOf(linalg::GenericOp op) {
  llvm::SmallDenseMap<Value, bool> known;
  SmallVector<Accumulator> accumulators;
  Operation *yield = op.getBody()->getTerminator();
  for (auto [init, yielded] : llvm::zip_equal(op.getDpsInitsMutable(), yield->getOperands())) {
    BlockArgument accumulator = op.getMatchingBlockArgument(&init);
    Operation *operation = yielded.getDefiningOp();
    if (!operation || operation->getBlock() != op.getBody() || operation->getNumOperands() != 2 ||
        !accumulator.hasOneUse() || !yielded.hasOneUse())
      return std::nullopt;
    std::optional<Combiner> combiner = combinerOf(operation);
    const bool isFirst = operation->getOperand(0) == accumulator;
    if (!combiner || (!isFirst && operation->getOperand(1) != accumulator))
      return std::nullopt;
    Value contributed = operation->getOperand(isFirst ? 1 : 0);
    if (knowsAccumulator(contributed, op, known))
      return std::nullopt;
    accumulators.push_back({*combiner, contributed, operation});
  }
  return accumulators;
}

std::optional<Combiner> combinerOf(Block &body) {
  if (body.getNumArguments() != 2 || !llvm::hasNItems(body, 2))
    return std::nullopt;
  Operation &combine = body.front();
  Value first = body.getArgument(0), second = body.getArgument(1);
  const bool combinesBoth = combine.getNumOperands() == 2 && combine.getNumResults() == 1 &&
                            ((combine.getOperand(0) == first && combine.getOperand(1) == second) ||
                             (combine.getOperand(0) == second && combine.getOperand(1) == first));
  if (!combinesBoth || body.back().getNumOperands() != 1 || body.back().getOperand(0) != combine.getResult(0))
    return std::nullopt;
  return combinerOf(&combine);
}

TypedAttr neutralOf(OpBuilder &b, Combiner combiner, Type type) {
  if (auto real = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = real.getFloatSemantics();
    switch (combiner) {
    case Combiner::AddF: // -0: what it is added to keeps its sign
      return b.getFloatAttr(type, APFloat::getZero(semantics, /*Negative=*/true));
    case Combiner::MulF:
      return b.getFloatAttr(type, 1.0);
    case Combiner::MaximumF:
      return b.getFloatAttr(type, APFloat::getInf(semantics, /*Negative=*/true));
    case Combiner::MinimumF:
      return b.getFloatAttr(type, APFloat::getInf(semantics));
    default: // of two, the one that is a number
      return b.getFloatAttr(type, APFloat::getNaN(semantics));
    }
  }
  const unsigned bits = type.getIntOrFloatBitWidth();
  switch (combiner) {
  case Combiner::MulI:
    return b.getIntegerAttr(type, APInt(bits, 1));
  case Combiner::MaxS:
    return b.getIntegerAttr(type, APInt::getSignedMinValue(bits));
  case Combiner::MinS:
    return b.getIntegerAttr(type, APInt::getSignedMaxValue(bits));
  case Combiner::MinU:
  case Combiner::And:
    return b.getIntegerAttr(type, APInt::getAllOnes(bits));
  default:
    return b.getIntegerAttr(type, APInt::getZero(bits));
  }
}

Type accumulatorType(Combiner combiner, Type element) {
  const bool isSum = combiner == Combiner::AddF || combiner == Combiner::MulF;
  const bool isNarrow = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  return isSum && isNarrow ? Type(Float32Type::get(element.getContext())) : element;
}

Value combineBy(OpBuilder &b, Location loc, const Accumulator &accumulator, Value sum, Value value) {
  if (value.getType() != sum.getType())
    value = arith::ExtFOp::create(b, loc, sum.getType(), value);
  OperationState state(loc, accumulator.operation->getName());
  state.addOperands({value, sum});
  state.addTypes(sum.getType());
  state.addAttributes(accumulator.operation->getAttrs());
  return b.create(state)->getResult(0);
}

/// The loop that an index of a read is made of, if it is one alone and no element of a tensor.
static std::optional<unsigned> loopOfIndex(Value index, linalg::GenericOp op) {
  std::optional<unsigned> loop;
  SmallVector<Value> open = {index};
  constexpr size_t kMost = 32; // values that are looked at
  for (size_t next = 0; next < open.size(); ++next) {
    Operation *inner = open[next].getDefiningOp();
    if (next == kMost)
      return std::nullopt;
    if (!inner || inner->getBlock() != op.getBody())
      continue;
    if (auto at = dyn_cast<linalg::IndexOp>(inner)) {
      if (loop.value_or(at.getDim()) != at.getDim())
        return std::nullopt;
      loop = at.getDim();
    } else if (auto apply = dyn_cast<affine::AffineApplyOp>(inner)) { // it may have operands that its map does not ask
      const AffineMap map = apply.getAffineMap();
      for (auto [number, operand] : llvm::enumerate(apply.getMapOperands()))
        if (number < map.getNumDims() ? map.isFunctionOfDim(number) : map.isFunctionOfSymbol(number - map.getNumDims()))
          open.push_back(operand);
    } else if (isa<tensor::ExtractOp>(inner) || inner->getNumRegions() != 0) {
      return std::nullopt;
    } else {
      llvm::append_range(open, inner->getOperands());
    }
  }
  return loop;
}

/// Whether the body reads a tensor by place that has an element for each of the loops' numbers: each loop says an index
/// of its own. So does what a pad or a concatenation holds, and no window, of which two loops say one index.
static bool readsEachOnce(linalg::GenericOp op) {
  return llvm::any_of(op.getBody()->getOps<tensor::ExtractOp>(), [&](tensor::ExtractOp read) {
    llvm::SmallDenseSet<unsigned, 8> loops;
    for (Value index : read.getIndices())
      if (const std::optional<unsigned> loop = loopOfIndex(index, op); !loop || !loops.insert(*loop).second)
        return false;
    return loops.size() == op.getNumLoops();
  });
}

bool isTreeReduction(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || !reductionBodyOf(op))
    return false;
  bool any = false, once = false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!isa<RankedTensorType>(input->get().getType()))
      continue;
    any = true;
    once |= namesEachOnce(op.getMatchingIndexingMap(input));
  }
  return once || !any || readsEachOnce(op);
}

} // namespace tenon::compiler::dispatch
