// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/splits/ragged_parts.h"

#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/analysis/reduction_body.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// What reads the tensor by itself, or takes a scalar, is left as it is.
bool readsElsewhere(linalg::GenericOp op) {
  for (OpOperand *input : op.getDpsInputOperands())
    if (!isa<RankedTensorType>(input->get().getType()))
      return true;
  bool isOther = false;
  op.getBody()->walk([&](Operation *inner) {
    isOther |= isa<tensor::ExtractOp>(inner) || (isa<linalg::IndexOp>(inner) && inner->getBlock() != op.getBody());
  });
  return isOther;
}

} // namespace

Value loopSize(OpBuilder &b, linalg::GenericOp op, unsigned loop) {
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (unsigned dimension = 0; dimension < map.getNumResults(); ++dimension)
      if (map.getDimPosition(dimension) == loop)
        return dimensionOf(b, op.getLoc(), operand.get(), dimension);
  }
  llvm_unreachable("every loop indexes an operand");
}

RaggedParts raggedParts(OpBuilder &b, linalg::GenericOp op, unsigned loop, const RaggedLimits &limits) {
  const Location loc = op.getLoc();
  auto number = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, loc, value); };
  auto divided = [&](Value x, Value y) { return b.createOrFold<arith::DivUIOp>(loc, x, y); };
  Value size = loopSize(b, op, loop), blocks = number(1);
  AffineMap results = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (unsigned i = 0; i < results.getNumResults(); ++i) {
    Value of = loopSize(b, op, results.getDimPosition(i));
    if (i + 1 == results.getNumResults() && limits.tile > 1)
      of = divided(b.createOrFold<arith::AddIOp>(loc, of, number(limits.tile - 1)), number(limits.tile));
    blocks = b.createOrFold<arith::MulIOp>(loc, blocks, of);
  }
  blocks = b.createOrFold<arith::MaxUIOp>(loc, blocks, number(1));
  Value few = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, blocks, number(limits.enough));
  Value wanted = divided(b.createOrFold<arith::AddIOp>(loc, blocks, number(limits.wanted - 1)), blocks);
  Value most = b.createOrFold<arith::MaxUIOp>(loc, divided(size, number(limits.least)), number(1));
  Value several = b.createOrFold<arith::MinUIOp>(loc, wanted, most);
  Value parts = b.createOrFold<arith::SelectOp>(loc, few, several, number(1));
  parts = b.createOrFold<arith::MinUIOp>(loc, parts, size); // nothing has no parts
  return {size, parts, divided(size, b.createOrFold<arith::MaxUIOp>(loc, parts, number(1)))};
}

std::optional<unsigned> raggedLoopOf(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || !isTreeReduction(op) || op.getNumReductionLoops() != 1)
    return std::nullopt;
  const SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  const unsigned loop = llvm::find(types, utils::IteratorType::reduction) - types.begin();
  for (AffineMap map : op.getIndexingMapsArray())
    if (!map.isProjectedPermutation() || (map.isFunctionOfDim(loop) && map.getDimPosition(0) != loop))
      return std::nullopt;
  return readsElsewhere(op) ? std::nullopt : std::optional(loop);
}

std::optional<unsigned> wholeLoopOf(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || !isTreeReduction(op) || op.getNumReductionLoops() < 2 || readsElsewhere(op))
    return std::nullopt;
  AffineMap whole; // of a tensor that has each element once
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!map.isProjectedPermutation())
      return std::nullopt;
    if (map.isPermutation() && !whole)
      whole = map;
  }
  if (!whole)
    return std::nullopt;
  const SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  for (unsigned dimension = 0; dimension < whole.getNumResults(); ++dimension)
    if (const unsigned loop = whole.getDimPosition(dimension); types[loop] == utils::IteratorType::reduction)
      return loop;
  return std::nullopt;
}

} // namespace tenon::compiler::dispatch
