// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/shared_heads.h"

#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/attention/chain.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

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

} // namespace

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
