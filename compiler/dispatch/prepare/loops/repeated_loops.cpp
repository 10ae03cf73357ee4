// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/repeated_loops.h"

#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/analysis/slices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// A copy of its one tensor, whose elements stand where the loops are; it may be read along some of them only.
bool isRepetition(linalg::GenericOp op) {
  return op && op.hasPureTensorSemantics() && isCopy(op) && op.getNumReductionLoops() == 0 &&
         isa<RankedTensorType>(op.getDpsInputs()[0].getType()) && op.getIndexingMapsArray().back().isIdentity();
}

/// The loop that each group becomes reads the tensor like this one of its dimensions; none where it does not read it.
/// Nothing where a group holds several that are read.
std::optional<SmallVector<std::optional<int64_t>>> readDimensions(linalg::GenericOp op,
                                                                  ArrayRef<ReassociationIndices> groups) {
  const AffineMap read = op.getIndexingMapsArray().front();
  const auto sizes = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  SmallVector<std::optional<int64_t>> found;
  bool isRepeated = false;
  for (const ReassociationIndices &group : groups) {
    std::optional<int64_t> &dimension = found.emplace_back();
    bool hasOther = false; // than of one, that are not read
    for (int64_t each : group) {
      if (!read.isFunctionOfDim(each)) {
        hasOther |= sizes[each] != 1;
        continue;
      }
      if (dimension)
        return std::nullopt;
      dimension = each;
    }
    if (dimension && hasOther)
      return std::nullopt;
    isRepeated |= group.size() > 1;
  }
  return isRepeated ? std::optional(found) : std::nullopt;
}

void fold(tensor::CollapseShapeOp reshape) {
  auto op = reshape.getSrc().getDefiningOp<linalg::GenericOp>();
  if (!isRepetition(op))
    return;
  const auto groups = reshape.getReassociationIndices();
  const auto dimensions = readDimensions(op, groups);
  if (!dimensions)
    return;
  OpBuilder b(reshape);
  const Location loc = reshape.getLoc();
  SmallVector<AffineExpr> loops(op.getNumLoops(), b.getAffineConstantExpr(0));
  SmallVector<OpFoldResult> sizes;
  for (auto [loop, group] : llvm::enumerate(groups)) {
    if (std::optional<int64_t> dimension = (*dimensions)[loop])
      loops[*dimension] = b.getAffineDimExpr(loop);
    const int64_t known = reshape.getResultType().getDimSize(loop);
    if (!ShapedType::isDynamic(known)) {
      sizes.push_back(b.getIndexAttr(known));
      continue;
    }
    sizes.push_back(foldedDimensionOf(b, loc, op.getDpsInits()[0], group));
  }
  const AffineMap read =
      op.getIndexingMapsArray().front().replaceDimsAndSymbols(loops, {}, groups.size(), /*numResultSyms=*/0);
  Value empty = tensor::EmptyOp::create(b, loc, sizes, reshape.getResultType().getElementType());
  SmallVector<utils::IteratorType> types(groups.size(), utils::IteratorType::parallel);
  auto folded = linalg::GenericOp::create(
      b, loc, empty.getType(), op.getDpsInputs()[0], empty,
      ArrayRef<AffineMap>{read, b.getMultiDimIdentityMap(groups.size())}, types,
      [&](OpBuilder &b, Location loc, ValueRange elements) { linalg::YieldOp::create(b, loc, elements[0]); });
  Value result = folded.getResult(0);
  if (result.getType() != reshape.getType())
    result = tensor::CastOp::create(b, loc, reshape.getType(), result);
  reshape.replaceAllUsesWith(result);
  reshape.erase();
  if (op->use_empty())
    op.erase();
}

} // namespace

void foldRepeatedLoops(func::FuncOp function) {
  for (Block &block : function.getBody())
    for (auto reshape : llvm::to_vector(block.getOps<tensor::CollapseShapeOp>()))
      fold(reshape);
}

} // namespace tenon::compiler::dispatch
