// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/quantized/zero_points.h"

#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/quantized/separated_product.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Products of fewer multiplications are over before the sums beside them are.
constexpr double kLeastMultiplications = 1 << 20;

bool isLarge(linalg::LinalgOp op) {
  double multiplications = 1;
  for (int64_t size : op.getStaticLoopRanges())
    if (!ShapedType::isDynamic(size))
      multiplications *= double(size);
  return multiplications >= kLeastMultiplications || llvm::is_contained(op.getStaticLoopRanges(), ShapedType::kDynamic);
}

/// Named operations with zero points, made generic, and generic sums of i32.
linalg::GenericOp genericOf(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 || op.getNumReductionLoops() == 0 ||
      !getElementTypeOrSelf(op->getResult(0)).isInteger(32) || !isLarge(op))
    return {};
  if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation()))
    return generic;
  const bool hasZeroPoints =
      op.getNumDpsInputs() == 4 &&
      llvm::all_of(llvm::drop_begin(op.getDpsInputs(), 2), [](Value value) { return value.getType().isInteger(32); });
  if (!hasZeroPoints)
    return {};
  IRRewriter rewriter(op->getContext());
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
  return succeeded(made) ? *made : linalg::GenericOp();
}

void takeOut(linalg::GenericOp op) {
  const auto accumulators = reductionBodyOf(op);
  if (!accumulators || accumulators->front().combiner != Combiner::AddI || op.hasIndexSemantics())
    return;
  auto product = accumulators->front().contributed.getDefiningOp<arith::MulIOp>();
  if (!product || product->getBlock() != op.getBody())
    return;
  std::optional<QuantizedFactor> left = quantizedFactorOf(product.getLhs(), op),
                                 right = quantizedFactorOf(product.getRhs(), op);
  if (!left || !right || (!left->zero && !right->zero) || left->operand == right->operand)
    return;
  auto isPlain = [](const QuantizedFactor &side) { return side.map().isProjectedPermutation(); };
  // Every sum has to be over all that is summed.
  auto hasAllSums = [&](const QuantizedFactor &side) {
    SmallVector<unsigned> reduced;
    op.getReductionDims(reduced);
    return llvm::all_of(reduced, [&](unsigned loop) { return side.map().isFunctionOfDim(loop); });
  };
  if (!isPlain(*right))
    std::swap(*left, *right);
  if (!isPlain(*right) || !right->type().hasStaticShape() || !hasAllSums(*left) || !hasAllSums(*right))
    return;
  separateZeroPoints(op, *left, *right);
}

} // namespace

void takeOutZeroPoints(func::FuncOp function) {
  SmallVector<linalg::LinalgOp> found;
  function.walk([&](linalg::LinalgOp op) { found.push_back(op); });
  for (linalg::LinalgOp op : found)
    if (linalg::GenericOp generic = genericOf(op))
      takeOut(generic);
}

} // namespace tenon::compiler::dispatch
