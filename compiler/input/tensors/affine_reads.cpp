// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A body that reads `tensor.extract %x[%i + 2, %j]`, with i and j the loops, reads at an affine place. Said as an
// operand with the indexing map (i, j) -> (i + 2, j) it is what fusion and the generator of kernels understand best: a
// slice is then part of what reads it.
//
// An indexing map that is a loop alone says that the dimension measures what the loop does. So x[0 : 5] of ten elements
// stays a read in the body, as does what starts or steps by a number that only the host knows.
#include "compiler/dialect/size_origin.h"
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) && constant.getSignificantBits() <= 64)
    return constant.getSExtValue();
  return std::nullopt;
}

// Bodies are short; what is deeper than this is no affine place that anybody wrote.
constexpr unsigned kMaxDepth = 32;

/// The value as an expression of the loops of the linalg operation around it; null where it is none.
AffineExpr expressionOf(Value value, unsigned depth = 0) {
  MLIRContext *context = value.getContext();
  if (std::optional<int64_t> constant = constantOf(value))
    return getAffineConstantExpr(*constant, context);
  Operation *op = value.getDefiningOp();
  if (!op || depth > kMaxDepth)
    return {};
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return getAffineDimExpr(index.getDim(), context);
  if (!isa<affine::AffineApplyOp, arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivUIOp, arith::RemUIOp>(op))
    return {};
  SmallVector<AffineExpr> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(expressionOf(operand, depth + 1));
    if (!operands.back())
      return {};
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    const unsigned dims = apply.getMap().getNumDims();
    return apply.getMap().getResult(0).replaceDimsAndSymbols(ArrayRef(operands).take_front(dims),
                                                             ArrayRef(operands).drop_front(dims));
  }
  const AffineExpr x = operands[0], y = operands[1];
  if (isa<arith::AddIOp>(op))
    return x + y;
  if (isa<arith::SubIOp>(op))
    return x - y;
  const auto constant = dyn_cast<AffineConstantExpr>(y);
  if (isa<arith::MulIOp>(op))
    return constant || isa<AffineConstantExpr>(x) ? x * y : AffineExpr();
  // Without a sign: of a loop, which is not negative.
  if (!isa<AffineDimExpr>(x) || !constant || constant.getValue() <= 0)
    return {};
  return isa<arith::DivUIOp>(op) ? x.floorDiv(y) : x % y;
}

class Reads {
public:
  explicit Reads(linalg::GenericOp op) : op_(op), ranges_(op.getStaticLoopRanges()) {}

  /// The indexing map of the read; null where none says the same.
  AffineMap mapOf(tensor::ExtractOp read) {
    auto type = dyn_cast<RankedTensorType>(read.getTensor().getType());
    if (!type || op_.getRegion().isAncestor(read.getTensor().getParentRegion()))
      return {};
    SmallVector<AffineExpr> results;
    for (auto [dimension, index] : llvm::enumerate(read.getIndices())) {
      AffineExpr result = expressionOf(index);
      if (!result || !fits(simplifyAffineExpr(result, op_.getNumLoops(), 0), read.getTensor(), dimension))
        return {};
      results.push_back(simplifyAffineExpr(result, op_.getNumLoops(), 0));
    }
    return AffineMap::get(op_.getNumLoops(), 0, results, op_.getContext());
  }

private:
  SizeOrigin loopSize(unsigned loop) {
    for (OpOperand &operand : op_->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      for (auto [dimension, result] : llvm::enumerate(op_.getMatchingIndexingMap(&operand).getResults()))
        if (auto dim = dyn_cast<AffineDimExpr>(result); dim && dim.getPosition() == loop)
          if (op_.isDpsInit(&operand) || !ShapedType::isDynamic(ranges_[loop]))
            return sizeOriginOf(operand.get(), int64_t(dimension));
    }
    return {};
  }

  /// What MLIR asks of a dimension's expression, by the first and the last of each loop.
  bool fits(AffineExpr result, Value tensor, int64_t dimension) {
    if (auto dim = dyn_cast<AffineDimExpr>(result)) {
      const SizeOrigin size = loopSize(dim.getPosition());
      return size && size == sizeOriginOf(tensor, dimension);
    }
    const int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dimension);
    SmallVector<AffineExpr> first, last;
    bool isKnown = true;
    for (unsigned loop = 0; loop < ranges_.size(); ++loop) {
      const bool isDynamic = ShapedType::isDynamic(ranges_[loop]);
      isKnown &= !isDynamic || !result.isFunctionOfDim(loop);
      first.push_back(getAffineConstantExpr(0, op_.getContext()));
      last.push_back(getAffineConstantExpr(isDynamic ? 0 : std::max<int64_t>(ranges_[loop] - 1, 0), op_.getContext()));
    }
    auto atFirst = dyn_cast<AffineConstantExpr>(result.replaceDims(first));
    auto atLast = dyn_cast<AffineConstantExpr>(result.replaceDims(last));
    if (!atFirst || !atLast || std::min(atFirst.getValue(), atLast.getValue()) < 0)
      return false;
    return ShapedType::isDynamic(size) || !isKnown || std::max(atFirst.getValue(), atLast.getValue()) < size;
  }

  linalg::GenericOp op_;
  SmallVector<int64_t> ranges_; // [loops]
};

/// Whether selects say who looks at the element: x[i + 1] where that is in the tensor. An operand is read wherever the
/// loops go, and checked when the program runs.
bool isChosen(tensor::ExtractOp read) {
  return !read->use_empty() && llvm::all_of(read->getUses(), [](OpOperand &use) {
    return isa<arith::SelectOp>(use.getOwner()) && use.getOperandNumber() != 0;
  });
}

/// Whether sizes that are not known decide whether it stays in the tensor.
bool mayLeave(tensor::ExtractOp read, AffineMap map, linalg::GenericOp op) {
  const SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [expr, size] : llvm::zip_equal(map.getResults(), read.getTensor().getType().getShape())) {
    bool isKnown = !ShapedType::isDynamic(size);
    for (unsigned loop = 0; loop < ranges.size(); ++loop)
      isKnown &= !ShapedType::isDynamic(ranges[loop]) || !expr.isFunctionOfDim(loop);
    if (!isKnown && !isa<AffineDimExpr>(expr))
      return true;
  }
  return false;
}

struct RaiseReads : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return failure();
    Reads reads(op);
    SmallVector<std::pair<tensor::ExtractOp, AffineMap>> raised;
    for (auto read : op.getBody()->getOps<tensor::ExtractOp>())
      if (AffineMap map = reads.mapOf(read); map && !(isChosen(read) && mayLeave(read, map, op)))
        raised.push_back({read, map});
    if (raised.empty())
      return failure();

    SmallVector<Value> inputs = op.getInputs();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps.truncate(inputs.size());
    SmallVector<unsigned> positions;
    for (auto [read, map] : raised) {
      unsigned position = 0;
      while (position < inputs.size() && (inputs[position] != read.getTensor() || maps[position] != map))
        ++position;
      if (position == inputs.size()) {
        inputs.push_back(read.getTensor());
        maps.push_back(map);
      }
      positions.push_back(position);
    }
    for (OpOperand &init : op.getDpsInitsMutable())
      maps.push_back(op.getMatchingIndexingMap(&init));
    auto raisedOp = linalg::GenericOp::create(rewriter, op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(), maps,
                                              op.getIteratorTypesArray());
    rewriter.inlineRegionBefore(op.getRegion(), raisedOp.getRegion(), raisedOp.getRegion().begin());
    Block *body = raisedOp.getBody();
    for (unsigned position = op.getNumDpsInputs(); position < inputs.size(); ++position)
      body->insertArgument(position, cast<RankedTensorType>(inputs[position].getType()).getElementType(),
                           inputs[position].getLoc());
    for (auto [entry, position] : llvm::zip_equal(raised, positions))
      rewriter.replaceOp(entry.first, body->getArgument(position));
    rewriter.replaceOp(op, raisedOp.getResults());
    return success();
  }
};

} // namespace

void addAffineReadPatterns(RewritePatternSet &patterns) {
  patterns.add<RaiseReads>(patterns.getContext());
}

} // namespace tenon::compiler::input
