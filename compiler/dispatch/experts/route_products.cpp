// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/experts/route_products.h"

#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/analysis/products/contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

class Router {
public:
  Router(linalg::GenericOp op, Contraction product)
      : op_(op), product_(std::move(product)), weights_(*product_.right.routed), b_(op), loc_(op.getLoc()) {}

  void run() { addTable(tableOf(expertsOfRows())); }

private:
  /// How many places the loop has.
  Value sizeOf(unsigned loop) {
    OpOperand *result = op_.getDpsInitOperand(0);
    AffineMap map = op_.getMatchingIndexingMap(result);
    return dimensionOf(b_, loc_, result->get(), *map.getResultPosition(b_.getAffineDimExpr(loop)));
  }

  /// What names the experts, where it stands in memory as it is, for each row.
  Value namedInMemory(ArrayRef<AffineExpr> loops) {
    auto cast = weights_.expert.getDefiningOp<arith::IndexCastOp>();
    auto argument = cast ? dyn_cast<BlockArgument>(cast.getIn()) : BlockArgument();
    if (!argument || argument.getOwner() != op_.getBody())
      return {};
    OpOperand *operand = op_.getMatchingOpOperand(argument);
    const unsigned rank = product_.rows.size();
    AffineMap map = op_.getMatchingIndexingMap(operand).replaceDimsAndSymbols(loops, {}, rank, 0);
    const bool isPlain = map.isIdentity() && (argument.getType().isInteger(32) || argument.getType().isInteger(64));
    return isPlain ? operand->get() : Value();
  }

  /// The expert of each row, an integer.
  Value expertsOfRows() {
    const SmallVector<int64_t> ranges = op_.getStaticLoopRanges();
    SmallVector<int64_t> shape;
    SmallVector<Value> sizes;
    SmallVector<AffineExpr> loops(op_.getNumLoops(), b_.getAffineConstantExpr(0));
    for (auto [number, loop] : llvm::enumerate(product_.rows)) {
      loops[loop] = b_.getAffineDimExpr(number);
      shape.push_back(ranges[loop]);
      if (ShapedType::isDynamic(ranges[loop]))
        sizes.push_back(sizeOf(loop));
    }
    if (Value named = namedInMemory(loops))
      return named;
    const unsigned rank = shape.size();
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    for (unsigned input : weights_.inputs) {
      OpOperand *operand = op_.getDpsInputOperand(input);
      inputs.push_back(operand->get());
      maps.push_back(op_.getMatchingIndexingMap(operand).replaceDimsAndSymbols(loops, {}, rank, 0));
    }
    maps.push_back(b_.getMultiDimIdentityMap(rank));
    auto type = RankedTensorType::get(shape, b_.getI32Type());
    Value empty = tensor::EmptyOp::create(b_, loc_, type, sizes);
    const SmallVector<utils::IteratorType> parallel(rank, utils::IteratorType::parallel);
    auto build = [&](OpBuilder &inside, Location, ValueRange arguments) {
      IRMapping values;
      for (auto [input, argument] : llvm::zip(weights_.inputs, arguments))
        values.map(op_.getMatchingBlockArgument(op_.getDpsInputOperand(input)), argument);
      Value expert = copyOf(inside, weights_.expert, values);
      linalg::YieldOp::create(inside, loc_,
                              arith::IndexCastOp::create(inside, loc_, b_.getI32Type(), expert).getResult());
    };
    return linalg::GenericOp::create(b_, loc_, type, inputs, empty, maps, parallel, build).getResult(0);
  }

  /// A value of the product's body, computed from its inputs by arithmetic alone.
  Value copyOf(OpBuilder &inside, Value value, IRMapping &values) {
    if (Value known = values.lookupOrNull(value))
      return known;
    Operation *defining = value.getDefiningOp();
    if (!defining || defining->getBlock() != op_.getBody())
      return value;
    for (Value operand : defining->getOperands())
      (void)copyOf(inside, operand, values);
    inside.clone(*defining, values);
    return values.lookup(value);
  }

  Value tableOf(Value experts) {
    auto named = cast<RankedTensorType>(experts.getType());
    int64_t lines = ShapedType::kDynamic;
    SmallVector<Value> sizes;
    if (named.hasStaticShape()) {
      lines = routeLines(named.getNumElements(), weights_.experts);
    } else {
      // As routeLines().
      Value rows = number(1);
      for (unsigned loop : product_.rows)
        rows = arith::MulIOp::create(b_, loc_, rows, sizeOf(loop));
      Value all = arith::DivUIOp::create(b_, loc_, rows, number(kRouteLine));
      for (int64_t side : kRoutedTiles)
        all = arith::AddIOp::create(b_, loc_, all, arith::DivUIOp::create(b_, loc_, rows, number(side)));
      const int64_t fixed = 2 + int64_t(kRoutedTiles.size()) * weights_.experts;
      sizes.push_back(arith::AddIOp::create(b_, loc_, all, number(fixed)));
    }
    auto type = RankedTensorType::get({lines, kRouteLine}, b_.getI32Type());
    Value empty = tensor::EmptyOp::create(b_, loc_, type, sizes);
    return linalg_ext::RouteOp::create(b_, loc_, type, experts, empty, uint64_t(weights_.experts)).getResult();
  }

  Value number(int64_t value) { return arith::ConstantIndexOp::create(b_, loc_, value); }

  /// The product with one more input, which its body does not read.
  void addTable(Value table) {
    SmallVector<Value> inputs = op_.getDpsInputs();
    inputs.push_back(table);
    SmallVector<AffineMap> maps = op_.getIndexingMapsArray();
    AffineExpr none = b_.getAffineConstantExpr(0);
    maps.insert(maps.end() - 1, AffineMap::get(op_.getNumLoops(), 0, {none, none}, b_.getContext()));
    auto routed = linalg::GenericOp::create(b_, loc_, op_->getResultTypes(), inputs, op_.getDpsInits(), maps,
                                            op_.getIteratorTypesArray());
    routed->setDiscardableAttrs(op_->getDiscardableAttrDictionary());
    routed->setAttr(kRoutedAttr, b_.getUnitAttr());
    routed.getRegion().takeBody(op_.getRegion());
    routed.getBody()->insertArgument(unsigned(inputs.size() - 1), b_.getI32Type(), loc_);
    op_->replaceAllUsesWith(routed->getResults());
    op_.erase();
  }

  linalg::GenericOp op_;
  const Contraction product_;
  const RoutedWeights weights_;
  OpBuilder b_;
  Location loc_;
};

/// The product that `op` would be if it were routed.
std::optional<Contraction> routableProductOf(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0 || op->getNumResults() != 1 ||
      op.getBody()->getOps<tensor::ExtractOp>().empty() || op->hasAttr(kRoutedAttr))
    return std::nullopt;
  op->setAttr(kRoutedAttr, UnitAttr::get(op.getContext()));
  std::optional<Contraction> product = contractionOf(op);
  op->removeAttr(kRoutedAttr);
  if (!product || !product->isRouted() || product->right.routed->experts > linalg_ext::kMostExperts)
    return std::nullopt;
  const std::optional<int64_t> columns = knownSizeOf(op, product->columns), reduced = knownSizeOf(op, product->reduced),
                               rows = knownSizeOf(op, product->rows);
  const bool fits = columns && reduced && *columns != 0 && *reduced != 0 && (!rows || *rows < INT32_MAX);
  return fits ? product : std::nullopt;
}

/// A matrix for each row, or for several: elements of weights at places that are named.
bool isGather(linalg::GenericOp op) {
  return op.getNumReductionLoops() == 0 && op->getNumResults() == 1 && op->hasOneUse() && op.hasPureTensorSemantics() &&
         op.getBody()->getTerminator()->getOperand(0).getDefiningOp<tensor::ExtractOp>();
}

/// The product with a gather that it reads computed inside, where it can be routed then; else as it is.
linalg::GenericOp withGatherInside(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0 || op->getNumResults() != 1)
    return op;
  IRRewriter rewriter(op);
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto gather = input->get().getDefiningOp<linalg::GenericOp>();
    if (!gather || !isGather(gather) || !linalg::areElementwiseOpsFusable(input))
      continue;
    FailureOr<linalg::ElementwiseOpFusionResult> fused = linalg::fuseElementwiseOps(rewriter, input);
    if (failed(fused))
      continue;
    auto product = cast<linalg::GenericOp>(fused->fusedOp);
    if (!routableProductOf(product)) {
      rewriter.eraseOp(product);
      continue;
    }
    rewriter.replaceOp(op, fused->replacements.lookup(op->getResult(0)));
    rewriter.eraseOp(gather);
    return product;
  }
  return op;
}

} // namespace

void routeProducts(func::FuncOp function) {
  bool any = false;
  for (Block &block : function.getBody())
    for (Operation &each : llvm::make_early_inc_range(block)) {
      auto op = dyn_cast<linalg::GenericOp>(each);
      if (!op)
        continue;
      op = withGatherInside(op);
      if (std::optional<Contraction> product = routableProductOf(op)) {
        Router(op, std::move(*product)).run();
        any = true;
      }
    }
  if (!any)
    return;
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance(function);
  eliminateCommonSubExpressions(rewriter, dominance, function);
}

} // namespace tenon::compiler::dispatch
