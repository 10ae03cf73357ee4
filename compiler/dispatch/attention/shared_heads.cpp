// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/shared_heads.h"
#include "abi/arch_table.h"

#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/attention/chain.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Of a tile of twins, and of the blocks of keys that it goes through, at most.
constexpr int64_t kTileRows = 128, kBlockKeys = 128;
// Tiles that a large device computes at once. Where comparisons of indices hide keys, the longest tile is twice as long
// as the mean, and it takes as many again to even that out.
constexpr int64_t kAtOnce = abi::kHopperMultiprocessors, kEnoughUneven = 256;

std::optional<Contraction> sumOfHeads(linalg::GenericOp op) {
  std::optional<Contraction> product = contractionOf(op);
  const bool isOne = product && product->combiner == Combiner::AddF && product->reduced.size() == 2 &&
                     op->getNumResults() == 1 && getElementTypeOrSelf(op->getResult(0).getType()).isF32();
  return isOne ? product : std::nullopt;
}

Value sizeOf(OpBuilder &b, linalg::GenericOp op, unsigned loop) {
  for (OpOperand *operand : op.getDpsInputOperands())
    for (auto [dimension, expr] : llvm::enumerate(op.getMatchingIndexingMap(operand).getResults()))
      if (expr == getAffineDimExpr(loop, b.getContext()))
        return dimensionOf(b, op.getLoc(), operand->get(), dimension);
  return {};
}

/// The product with a result for each position of a loop that it sums over, in front of the other dimensions.
linalg::GenericOp partsOf(linalg::GenericOp op, unsigned loop) {
  OpBuilder b(op);
  const Location loc = op.getLoc();
  Value result = op->getResult(0), size = sizeOf(b, op, loop);
  if (!size)
    return {};
  SmallVector<OpFoldResult> sizes = {getAsOpFoldResult(size)};
  for (int64_t dimension = 0; dimension < cast<RankedTensorType>(result.getType()).getRank(); ++dimension)
    sizes.push_back(getAsOpFoldResult(dimensionOf(b, loc, op.getDpsInits()[0], dimension)));
  Value empty = tensor::EmptyOp::create(b, loc, sizes, b.getF32Type());
  Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
  Value start = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.back() = maps.back().insertResult(b.getAffineDimExpr(loop), 0);
  SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  types[loop] = utils::IteratorType::parallel;
  auto parts = linalg::GenericOp::create(b, loc, empty.getType(), op.getDpsInputs(), start, maps, types);
  IRMapping same;
  op.getRegion().cloneInto(&parts.getRegion(), same);
  return parts;
}

void addUp(linalg::GenericOp parts, linalg::GenericOp op) {
  OpBuilder b(op);
  const unsigned loops = cast<RankedTensorType>(parts->getResult(0).getType()).getRank();
  SmallVector<utils::IteratorType> types(loops, utils::IteratorType::parallel);
  types.front() = utils::IteratorType::reduction;
  const AffineMap all = b.getMultiDimIdentityMap(loops);
  auto sum =
      linalg::GenericOp::create(b, op.getLoc(), op->getResult(0).getType(), parts->getResult(0), op.getDpsInits(),
                                {all, all.dropResult(0)}, types, [&](OpBuilder &inside, Location loc, ValueRange x) {
                                  Value added = arith::AddFOp::create(inside, loc, x[1], x[0]);
                                  linalg::YieldOp::create(inside, loc, added);
                                });
  op->replaceAllUsesWith(sum);
  op->erase();
}

/// What addUp() has written for a last product of twins, where nobody else reads it; else null.
linalg::GenericOp additionOf(linalg::GenericOp parts) {
  Value result = parts->getResult(0);
  auto sum = result.hasOneUse() ? dyn_cast<linalg::GenericOp>(*result.getUsers().begin()) : linalg::GenericOp();
  if (!sum || sum.getNumDpsInputs() != 1 || sum.getNumDpsInits() != 1 || sum.getNumReductionLoops() != 1 ||
      sum.getIteratorTypesArray().front() != utils::IteratorType::reduction || sum->getBlock() != parts->getBlock())
    return {};
  const AffineMap all = sum.getMatchingIndexingMap(sum.getDpsInputOperand(0));
  auto added = dyn_cast<arith::AddFOp>(sum.getBody()->front());
  const bool isSum = added && llvm::range_size(*sum.getBody()) == 2 &&
                     added.getLhs() == sum.getBody()->getArgument(1) && added.getRhs() == sum.getBody()->getArgument(0);
  return isSum && all.isIdentity() && sum.getIndexingMapsArray().back() == all.dropResult(0) ? sum
                                                                                             : linalg::GenericOp();
}

/// Whether the kernel that goes through keys of all heads takes the product, and has about as much to do on each
/// multiprocessor as with parts.
bool isWorthIt(linalg::GenericOp parts, linalg::GenericOp weights, bool anyOrder) {
  const std::optional<Contraction> product = contractionOf(parts);
  auto heads = dyn_cast<AffineDimExpr>(parts.getMatchingIndexingMap(parts.getDpsInitOperand(0)).getResult(0));
  if (!product || !heads || product->reduced.size() != 1 || !llvm::is_contained(product->batch, heads.getPosition()))
    return false;
  const std::optional<int64_t> keys = knownSizeOf(parts, product->reduced),
                               count = knownSizeOf(parts, heads.getPosition());
  if (!keys || *keys == 0 || (anyOrder && *keys % kBlockKeys != 0) || !count || *count == 0)
    return false;
  const bool weightsAreLeft = parts.getDpsInputs()[product->left.inputs.front()].getDefiningOp() == weights;
  const std::optional<int64_t> rows = knownSizeOf(parts, weightsAreLeft ? product->rows : product->columns),
                               batch = knownSizeOf(parts, product->batch);
  if (!rows || !batch)
    return true;
  const auto of = [](int64_t number, int64_t each) {
    return int64_t(llvm::divideCeil(uint64_t(number), uint64_t(each)));
  };
  const int64_t tiles = *batch / *count * of(*rows, kTileRows);
  const bool isUneven = !weights.getBody()->getOps<linalg::IndexOp>().empty();
  const int64_t together = of(tiles, kAtOnce) * *count, apart = of(tiles * *count, kAtOnce);
  return 16 * together <= 17 * apart && (!isUneven || tiles >= kEnoughUneven);
}

/// The product with the sum over heads, where its parts were.
void addUpInside(linalg::GenericOp parts, linalg::GenericOp sum) {
  IRRewriter rewriter(parts);
  Value start = sum.getDpsInits()[0];
  SmallVector<AffineMap> maps = parts.getIndexingMapsArray();
  SmallVector<utils::IteratorType> types = parts.getIteratorTypesArray();
  types[cast<AffineDimExpr>(maps.back().getResult(0)).getPosition()] = utils::IteratorType::reduction;
  maps.back() = maps.back().dropResult(0);
  auto all =
      linalg::GenericOp::create(rewriter, parts.getLoc(), start.getType(), parts.getDpsInputs(), start, maps, types);
  IRMapping same;
  parts.getRegion().cloneInto(&all.getRegion(), same);
  all->setDiscardableAttrs(parts->getDiscardableAttrDictionary());
  sum->replaceAllUsesWith(all);
  sum->erase();
  parts->erase();
}

} // namespace

void joinSharedHeads(func::FuncOp function, bool anyOrder) {
  using PartsAndSum = std::pair<linalg::GenericOp, linalg::GenericOp>;
  // All of them first: joining erases operations.
  SmallVector<std::array<PartsAndSum, 2>> found;
  for (Block &block : function.getBody())
    for (auto weights : block.getOps<linalg::GenericOp>()) {
      if (!weights->hasAttr(kChainAttr) || weights->getNumResults() != 2 || weights.getNumReductionLoops() != 0)
        continue;
      SmallVector<PartsAndSum, 2> sums;
      for (Value each : weights->getResults())
        if (auto parts = each.hasOneUse() ? dyn_cast<linalg::GenericOp>(*each.getUsers().begin()) : linalg::GenericOp())
          if (linalg::GenericOp sum = additionOf(parts); sum && isWorthIt(parts, weights, anyOrder))
            sums.push_back({parts, sum});
      if (sums.size() == 2)
        found.push_back({sums[0], sums[1]});
    }
  IRRewriter rewriter(function.getContext());
  for (auto &[one, other] : found) {
    Operation *early = one.first->isBeforeInBlock(other.first) ? one.first : other.first;
    const SmallVector<Value> starts = {one.second.getDpsInits()[0], other.second.getDpsInits()[0]};
    if (failed(moveValueDefinitions(rewriter, starts, early)))
      continue;
    addUpInside(one.first, one.second);
    addUpInside(other.first, other.second);
  }
}

bool hasSharedHeads(func::FuncOp function) {
  return function
      .walk([](linalg::GenericOp op) { return sumOfHeads(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

void splitSharedHeads(func::FuncOp function) {
  for (Block &block : function.getBody())
    for (auto op : llvm::to_vector(block.getOps<linalg::GenericOp>())) {
      const std::optional<Contraction> product = sumOfHeads(op);
      if (!product)
        continue;
      for (unsigned loop : product->reduced) {
        linalg::GenericOp parts = partsOf(op, loop);
        if (!parts)
          break;
        if (chainOf(parts)) {
          addUp(parts, op);
          break;
        }
        parts.erase();
      }
    }
}

} // namespace tenon::compiler::dispatch
