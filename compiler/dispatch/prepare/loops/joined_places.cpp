// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/joined_places.h"

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Of a box of elements that lie across; what threads copy at once.
constexpr int64_t kBoxBytes = 128, kVectorBytes = 16;

/// Whether a tensor has all of these loops, one behind the other, or none of them.
bool areOne(AffineMap map, ArrayRef<int64_t> loops) {
  auto placeOf = [&](int64_t loop) {
    return map.getResultPosition(getAffineDimExpr(unsigned(loop), map.getContext()));
  };
  const std::optional<unsigned> first = placeOf(loops.front());
  for (auto [number, loop] : llvm::enumerate(loops)) {
    const std::optional<unsigned> place = placeOf(loop);
    if (!first ? map.isFunctionOfDim(unsigned(loop)) : !place || *place != *first + number)
      return false;
  }
  return map.isProjectedPermutation();
}

/// Whether all tensors of the operation do.
bool mayJoin(linalg::GenericOp op, ArrayRef<int64_t> loops) {
  return op.hasPureTensorSemantics() && !op.hasIndexSemantics() && op->getNumResults() == 1 &&
         llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) { return areOne(map, loops); });
}

/// Whether they are loops of an operation one in the other.
bool follow(ArrayRef<int64_t> loops) {
  return llvm::all_of(llvm::enumerate(loops),
                      [&](const auto &each) { return each.value() == loops.front() + int64_t(each.index()); });
}

/// Whether Hopper's tensor cores round the product's factors.
bool isOfTf32(linalg::GenericOp op) {
  return hasHopperTf32(op) &&
         llvm::all_of(op.getDpsInputs(), [](Value input) { return getElementTypeOrSelf(input.getType()).isF32(); });
}

/// The loops of a product's last places, where an operand has them behind what is summed over, and rows of the last of
/// them alone are no boxes; none where there is nothing to join.
SmallVector<int64_t> placesOf(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() != 1 || op->getNumResults() != 1 || isOfAttention(op))
    return {};
  const std::optional<Contraction> product = contractionOf(op);
  if (!product || product->isRouted() || product->left.border || product->right.border)
    return {};
  const bool isTf32 = isOfTf32(op);
  if (!isForTensorCores(*product) && !isTf32)
    return {};
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<int64_t> best;
  for (OpOperand *input : op.getDpsInputOperands()) {
    const int64_t bytes = elementBytes(getElementTypeOrSelf(input->get().getType()));
    SmallVector<int64_t> loops;
    int64_t places = 1;
    for (AffineExpr expr : llvm::reverse(op.getMatchingIndexingMap(input).getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop || op.getIteratorTypesArray()[loop.getPosition()] == utils::IteratorType::reduction ||
          ShapedType::isDynamic(sizes[loop.getPosition()]))
        break;
      loops.insert(loops.begin(), int64_t(loop.getPosition()));
      if (!written.getResultPosition(loop) || !areOne(written, loops)) {
        loops.erase(loops.begin());
        break;
      }
      places *= sizes[loop.getPosition()];
    }
    // Channels, and images in front of them.
    const bool liesAcross = loops.size() + 2 <= op.getMatchingIndexingMap(input).getNumResults();
    if (loops.size() > best.size() && loops.size() > 1 && liesAcross && bytes == (isTf32 ? 4 : 2) &&
        sizes[loops.back()] * bytes % kBoxBytes != 0 && places * bytes % kVectorBytes == 0 && follow(loops) &&
        mayJoin(op, loops))
      best = loops;
  }
  return best;
}

/// The same loops of what reads the product's result element by element; nothing where they are no neighbours there.
std::optional<SmallVector<int64_t>> placesBehind(linalg::GenericOp product, ArrayRef<int64_t> places, OpOperand &read) {
  auto op = cast<linalg::GenericOp>(read.getOwner());
  if (op.getNumReductionLoops() != 0 || op.isDpsInit(&read))
    return std::nullopt;
  const AffineMap written = product.getMatchingIndexingMap(product.getDpsInitOperand(0)),
                  map = op.getMatchingIndexingMap(&read);
  SmallVector<int64_t> loops;
  for (int64_t place : places) {
    auto loop = dyn_cast<AffineDimExpr>(
        map.getResult(*written.getResultPosition(getAffineDimExpr(unsigned(place), op.getContext()))));
    if (!loop)
      return std::nullopt;
    loops.push_back(loop.getPosition());
  }
  return follow(loops) && mayJoin(op, loops) ? std::optional(loops) : std::nullopt;
}

void join(linalg::GenericOp op, ArrayRef<int64_t> loops, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  const SmallVector<ReassociationIndices> joined = {ReassociationIndices(loops.begin(), loops.end())};
  FailureOr<linalg::CollapseResult> collapsed = linalg::collapseOpIterationDims(op, joined, rewriter);
  if (succeeded(collapsed))
    rewriter.replaceOp(op, collapsed->results);
}

/// Of a tensor without elements: joined dimensions have known sizes.
void joinEmpty(tensor::CollapseShapeOp reshape, tensor::EmptyOp empty, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(reshape);
  SmallVector<Value> sizes;
  for (const ReassociationIndices &joined : reshape.getReassociationIndices())
    for (int64_t dimension : joined)
      if (empty.getType().isDynamicDim(dimension))
        sizes.push_back(empty.getDynamicSize(unsigned(dimension)));
  if (sizes.size() == reshape.getResultType().getNumDynamicDims())
    rewriter.replaceOpWithNewOp<tensor::EmptyOp>(reshape, reshape.getResultType(), sizes);
  if (empty->use_empty())
    rewriter.eraseOp(empty);
}

} // namespace

void joinPlaces(func::FuncOp function) {
  SmallVector<std::pair<linalg::GenericOp, SmallVector<int64_t>>> found;
  function.walk([&](linalg::GenericOp op) {
    const SmallVector<int64_t> places = placesOf(op);
    if (places.empty() || !op->hasOneUse())
      return;
    OpOperand &use = *op->use_begin();
    if (isa<linalg::GenericOp>(use.getOwner())) {
      const std::optional<SmallVector<int64_t>> behind = placesBehind(op, places, use);
      if (!behind)
        return;
      found.push_back({cast<linalg::GenericOp>(use.getOwner()), *behind});
    } else if (!isa<func::ReturnOp>(use.getOwner()) && !(isa<tensor::ExtractOp>(use.getOwner()) && isOfTf32(op))) {
      return; // of 16 bits, nobody has measured the latter
    }
    found.push_back({op, places});
  });
  if (found.empty())
    return;
  IRRewriter rewriter(function.getContext());
  llvm::DenseSet<Operation *> seen;
  for (auto &[op, loops] : found)
    if (seen.insert(op).second)
      join(op, loops, rewriter);
  // There and back is nothing.
  RewritePatternSet patterns(function.getContext());
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, function.getContext());
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, function.getContext());
  linalg::FillOp::getCanonicalizationPatterns(patterns, function.getContext());
  (void)applyPatternsGreedily(function, std::move(patterns));
  for (auto reshape : llvm::to_vector(function.getOps<tensor::CollapseShapeOp>()))
    if (auto empty = reshape.getSrc().getDefiningOp<tensor::EmptyOp>())
      joinEmpty(reshape, empty, rewriter);
}

} // namespace tenon::compiler::dispatch
