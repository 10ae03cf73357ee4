// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Control flow inside of a body. A switch is conditions. Of a condition both sides are computed, and a select takes
// one. What must not happen on the side that is not taken does not: it divides by one, reads the first element, and
// ends its loops. A loop whose bounds are known is written out; any other one is an scf.while, which the kernel has,
// and what it uses of the body it carries: so it stands among the others as an operation whose operands say what it
// depends on.
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

bool isSimple(Block &block);

bool hasTensors(TypeRange types) {
  return llvm::any_of(types, [](Type type) { return isa<ShapedType>(type); });
}

bool isSimpleLoop(scf::WhileOp loop) {
  return isSimple(*loop.getBeforeBody()) && isSimple(*loop.getAfterBody());
}

/// No control flow but loops that stay.
bool isSimple(Block &block) {
  return llvm::all_of(block.without_terminator(), [](Operation &op) {
    auto loop = dyn_cast<scf::WhileOp>(op);
    return (loop ? isSimpleLoop(loop) : op.getNumRegions() == 0) && isMemoryEffectFree(&op) &&
           !hasTensors(op.getResultTypes());
  });
}

bool hasLoops(Block &block) {
  return !block.getOps<scf::WhileOp>().empty();
}

/// Operand `number` of the operation, where the side is taken; else `other`.
void guard(PatternRewriter &rewriter, Operation &op, unsigned number, Value isTaken, int64_t other) {
  rewriter.setInsertionPoint(&op);
  Value value = op.getOperand(number);
  Value safe = arith::ConstantOp::create(rewriter, op.getLoc(), rewriter.getIntegerAttr(value.getType(), other));
  Value guarded = arith::SelectOp::create(rewriter, op.getLoc(), isTaken, value, safe);
  rewriter.modifyOpInPlace(&op, [&] { op.setOperand(number, guarded); });
}

/// An operation of a side, and what is inside of it, does what it must not only where the side is taken.
void guardAll(PatternRewriter &rewriter, Operation &moved, Value isTaken) {
  moved.walk([&](Operation *op) {
    if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
            arith::FloorDivSIOp>(op))
      guard(rewriter, *op, 1, isTaken, 1);
    if (isa<tensor::ExtractOp>(op))
      for (unsigned index = 1; index < op->getNumOperands(); ++index)
        guard(rewriter, *op, index, isTaken, 0);
    if (auto condition = dyn_cast<scf::ConditionOp>(op)) {
      rewriter.setInsertionPoint(op);
      Value goesOn = arith::AndIOp::create(rewriter, op->getLoc(), condition.getCondition(), isTaken);
      rewriter.modifyOpInPlace(op, [&] { condition.getConditionMutable().assign(goesOn); });
    }
  });
}

// Operations that a loop may become.
constexpr int64_t kMostWrittenOut = 4096;

int64_t boundOf(const APInt &bound, bool isUnsigned) {
  return isUnsigned ? int64_t(bound.getLimitedValue(INT64_MAX)) : bound.getSExtValue();
}

/// Loops inside of it first.
struct WriteOutFor : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::ForOp op, PatternRewriter &rewriter) const override {
    APInt first, last, step;
    if (!isInsideOfBody(op) || !isSimple(*op.getBody()) || hasLoops(*op.getBody()) ||
        !matchPattern(op.getLowerBound(), m_ConstantInt(&first)) ||
        !matchPattern(op.getUpperBound(), m_ConstantInt(&last)) || !matchPattern(op.getStep(), m_ConstantInt(&step)) ||
        !step.isStrictlyPositive() || first.getBitWidth() > 64)
      return failure();
    const int64_t begin = boundOf(first, op.getUnsignedCmp()), end = boundOf(last, op.getUnsignedCmp());
    const auto length = int64_t(op.getBody()->getOperations().size());
    // Of small bounds no difference overflows.
    if (begin < end && (begin < -kMostWrittenOut || end > kMostWrittenOut * kMostWrittenOut))
      return failure();
    const int64_t by = step.getSExtValue(), turns = begin < end ? (end - begin - 1) / by + 1 : 0;
    if (turns > kMostWrittenOut / length)
      return failure();
    rewriter.setInsertionPoint(op);
    SmallVector<Value> carried = llvm::to_vector(op.getInitArgs());
    for (int64_t number = 0; number < turns; ++number) {
      const IntegerAttr at = rewriter.getIntegerAttr(op.getInductionVar().getType(), begin + number * by);
      IRMapping turn;
      turn.map(op.getInductionVar(), arith::ConstantOp::create(rewriter, op.getLoc(), at).getResult());
      turn.map(op.getRegionIterArgs(), carried);
      for (Operation &inner : op.getBody()->without_terminator())
        rewriter.clone(inner, turn);
      for (auto [value, yielded] : llvm::zip_equal(carried, op.getBody()->getTerminator()->getOperands()))
        value = turn.lookupOrDefault(yielded);
    }
    rewriter.replaceOp(op, carried);
    return success();
  }
};

/// What is not written out. What is inside of it first. It ends for any bounds and steps: the last turn is the one from
/// which a step reaches the end, and as such a step that is not positive counts as well, which no program may have.
struct WhileOfFor : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::ForOp op, PatternRewriter &rewriter) const override {
    if (!isInsideOfBody(op) || !isSimple(*op.getBody()) || hasTensors(op.getResultTypes()))
      return failure();
    SmallVector<Value> starts = {op.getLowerBound()};
    llvm::append_range(starts, op.getInitArgs());
    auto begin = [&](OpBuilder &b, Location where, ValueRange carried) {
      const auto less = op.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
      Value goesOn = arith::CmpIOp::create(b, where, less, carried.front(), op.getUpperBound());
      scf::ConditionOp::create(b, where, goesOn, carried);
    };
    auto turn = [&](OpBuilder &b, Location where, ValueRange carried) {
      IRMapping values;
      values.map(op.getInductionVar(), carried.front());
      values.map(op.getRegionIterArgs(), carried.drop_front());
      for (Operation &inner : op.getBody()->without_terminator())
        b.clone(inner, values);
      SmallVector<Value> next = {nextPlace(b, where, op, carried.front())};
      for (Value yielded : op.getBody()->getTerminator()->getOperands())
        next.push_back(values.lookupOrDefault(yielded));
      scf::YieldOp::create(b, where, next);
    };
    auto loop = scf::WhileOp::create(rewriter, op.getLoc(), ValueRange(starts).getTypes(), starts, begin, turn);
    rewriter.replaceOp(op, loop.getResults().drop_front());
    return success();
  }

private:
  /// Behind `place`, which is before the end: a step further, or the end where that lies no further, since a sum may
  /// overflow. Steps of one do not.
  static Value nextPlace(OpBuilder &b, Location where, scf::ForOp op, Value place) {
    Value next = arith::AddIOp::create(b, where, place, op.getStep());
    if (matchPattern(op.getStep(), m_One()))
      return next;
    Value one = arith::ConstantOp::create(b, where, b.getIntegerAttr(place.getType(), 1));
    Value last = arith::SubIOp::create(b, where, op.getUpperBound(), one);
    Value left = arith::SubIOp::create(b, where, last, place);
    Value reach = arith::SubIOp::create(b, where, op.getStep(), one);
    Value isLast = arith::CmpIOp::create(b, where, arith::CmpIPredicate::ule, left, reach);
    return arith::SelectOp::create(b, where, isLast, op.getUpperBound(), next);
  }
};

/// Whether a body computes it, or has it as an argument.
bool isOfBody(Value value) {
  if (Operation *op = value.getDefiningOp())
    return isInsideOfBody(op);
  Operation *parent = cast<BlockArgument>(value).getOwner()->getParentOp();
  return isa<linalg::LinalgOp>(parent) || isInsideOfBody(parent);
}

/// Values of the body that a loop uses, it carries; places and constants among them stand outside or inside.
struct CarryUsed : OpRewritePattern<scf::WhileOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::WhileOp op, PatternRewriter &rewriter) const override {
    if (!isInsideOfBody(op) || !isSimpleLoop(op) || hasTensors(op.getResultTypes()) ||
        hasTensors(ValueRange(op.getInits()).getTypes()))
      return failure();
    SmallVector<linalg::IndexOp> places;
    op->walk([&](linalg::IndexOp place) { places.push_back(place); });
    for (linalg::IndexOp place : places)
      rewriter.moveOpBefore(place, op);
    llvm::SetVector<Value> used;
    getUsedValuesDefinedAbove(op->getRegions(), used);
    SmallVector<Value> carried = llvm::filter_to_vector(used, isOfBody);
    if (carried.empty())
      return success(!places.empty());
    SmallVector<Value> starts = llvm::to_vector(op.getInits());
    llvm::append_range(starts, carried);
    SmallVector<Type> types = llvm::to_vector(op.getResultTypes());
    llvm::append_range(types, ValueRange(carried).getTypes());
    rewriter.setInsertionPoint(op);
    auto loop = scf::WhileOp::create(rewriter, op.getLoc(), types, starts);
    for (unsigned part = 0; part < 2; ++part) {
      Region &region = loop->getRegion(part);
      rewriter.inlineRegionBefore(op->getRegion(part), region, region.end());
      Block &block = region.front();
      SmallVector<Value> inside;
      for (Value value : carried) {
        inside.push_back(block.addArgument(value.getType(), op.getLoc()));
        rewriter.replaceUsesWithIf(
            value, inside.back(), [&](OpOperand &use) { return region.isAncestor(use.getOwner()->getParentRegion()); });
      }
      Operation *end = block.getTerminator();
      rewriter.modifyOpInPlace(end, [&] { end->insertOperands(end->getNumOperands(), inside); });
    }
    rewriter.replaceOp(op, loop.getResults().take_front(op.getNumResults()));
    return success();
  }
};

/// Nested conditions first: their sides have no regions then.
struct SelectOfIf : OpRewritePattern<scf::IfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::IfOp op, PatternRewriter &rewriter) const override {
    if (!isInsideOfBody(op) || op.getNumResults() == 0 || !op.elseBlock() || !isSimple(*op.thenBlock()) ||
        !isSimple(*op.elseBlock()))
      return failure();
    rewriter.setInsertionPoint(op);
    Value isTrue = arith::ConstantOp::create(rewriter, op.getLoc(), rewriter.getBoolAttr(true));
    Value isElse = arith::XOrIOp::create(rewriter, op.getLoc(), op.getCondition(), isTrue);
    SmallVector<Value> sides[2];
    for (auto [number, block, isTaken] :
         {std::tuple(0, op.thenBlock(), Value(op.getCondition())), std::tuple(1, op.elseBlock(), isElse)}) {
      for (Operation &inner : llvm::make_early_inc_range(block->without_terminator())) {
        rewriter.moveOpBefore(&inner, op);
        guardAll(rewriter, inner, isTaken);
      }
      sides[number] = llvm::to_vector(block->getTerminator()->getOperands());
    }
    rewriter.setInsertionPoint(op);
    SmallVector<Value> results;
    for (auto [yes, no] : llvm::zip_equal(sides[0], sides[1]))
      results.push_back(arith::SelectOp::create(rewriter, op.getLoc(), op.getCondition(), yes, no));
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// A switch is a condition for each of its cases, one in the other.
struct IfsOfSwitch : OpRewritePattern<scf::IndexSwitchOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::IndexSwitchOp op, PatternRewriter &rewriter) const override {
    if (!isInsideOfBody(op) || op.getNumResults() == 0 || op.getCases().empty())
      return failure();
    rewriter.setInsertionPoint(op);
    SmallVector<Value> results;
    for (auto [value, region] : llvm::zip_equal(op.getCases(), op.getCaseRegions())) {
      Value number = arith::ConstantIndexOp::create(rewriter, op.getLoc(), value);
      Value isIt = arith::CmpIOp::create(rewriter, op.getLoc(), arith::CmpIPredicate::eq, op.getArg(), number);
      auto condition = scf::IfOp::create(rewriter, op.getLoc(), op.getResultTypes(), isIt, /*withElseRegion=*/true);
      rewriter.inlineBlockBefore(&region.front(), condition.thenBlock(), condition.thenBlock()->end());
      if (results.empty())
        results.append(condition.result_begin(), condition.result_end());
      else
        scf::YieldOp::create(rewriter, op.getLoc(), condition.getResults());
      rewriter.setInsertionPointToEnd(condition.elseBlock());
    }
    Block *last = rewriter.getInsertionBlock();
    rewriter.inlineBlockBefore(&op.getDefaultRegion().front(), last, last->end());
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct OpenRegion : OpRewritePattern<scf::ExecuteRegionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::ExecuteRegionOp op, PatternRewriter &rewriter) const override {
    if (!isInsideOfBody(op) || !op.getRegion().hasOneBlock())
      return failure();
    Operation *yield = op.getRegion().front().getTerminator();
    rewriter.inlineBlockBefore(&op.getRegion().front(), op);
    rewriter.replaceOp(op, yield->getOperands());
    rewriter.eraseOp(yield);
    return success();
  }
};

} // namespace

bool isInsideOfBody(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (isa<linalg::LinalgOp>(parent) || isa<linalg_ext::LinalgExtDialect>(parent->getDialect()))
      return true;
  return false;
}

void addBranchPatterns(RewritePatternSet &patterns) {
  patterns.add<CarryUsed, IfsOfSwitch, OpenRegion, SelectOfIf, WhileOfFor>(patterns.getContext());
  patterns.add<WriteOutFor>(patterns.getContext(), /*benefit=*/2);
}

} // namespace tenon::compiler::input
