// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/images/joined_images.h"

#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/products/images/turned_tensor.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

constexpr int64_t kVectorBytes = 16;
// A product of fewer multiplications is over before copies are, and of fewer channels most of the time goes to reading.
constexpr double kLeastMultiplications = 1 << 26;
constexpr int64_t kLeastChannels = 64;

/// An operand whose dimensions are each moved by a loop of its own: one of channels, and those that are summed over.
struct Side {
  OpOperand *operand;
  RankedTensorType type;
  unsigned channels;          // dimension
  SmallVector<int64_t> order; // of the dimensions: as loops are summed, channels last

  static std::optional<Side> of(linalg::GenericOp op, OpOperand *operand, ArrayRef<unsigned> summed);
  bool isUnaligned() const {
    return type.getShape().back() * int64_t(elementBytes(type.getElementType())) % kVectorBytes != 0;
  }
};

std::optional<Side> Side::of(linalg::GenericOp op, OpOperand *operand, ArrayRef<unsigned> summed) {
  auto type = dyn_cast<RankedTensorType>(operand->get().getType());
  const AffineMap map = op.getMatchingIndexingMap(operand);
  if (!type || !type.hasStaticShape() || !(type.getElementType().isBF16() || type.getElementType().isF16()) ||
      !map.isProjectedPermutation() || map.getNumResults() != summed.size() + 1)
    return std::nullopt;
  Side side{operand, type, 0, {}};
  for (unsigned loop : summed) {
    const std::optional<unsigned> dimension = map.getResultPosition(getAffineDimExpr(loop, op.getContext()));
    if (!dimension)
      return std::nullopt;
    side.order.push_back(*dimension);
  }
  for (unsigned dimension = 0; dimension < map.getNumResults(); ++dimension)
    if (!llvm::is_contained(side.order, int64_t(dimension)))
      side.channels = dimension;
  side.order.push_back(side.channels);
  const int64_t channels = type.getDimSize(side.channels);
  return side.channels + 1 != map.getNumResults() && channels >= kLeastChannels &&
                 channels * int64_t(elementBytes(type.getElementType())) % kVectorBytes == 0
             ? std::optional(side)
             : std::nullopt;
}

/// A copy of it with its channels last, all that is summed one dimension.
Value joined(OpBuilder &b, Location loc, const Side &side) {
  Value tensor = turnedTo(b, loc, side.operand->get(), side.order);
  ReassociationIndices summed = llvm::to_vector(llvm::seq<int64_t>(0, side.type.getRank() - 1));
  const SmallVector<ReassociationIndices> parts = {summed, {side.type.getRank() - 1}};
  return tensor::CollapseShapeOp::create(b, loc, tensor, parts);
}

} // namespace

bool joinImages(linalg::GenericOp op) {
  const std::optional<Contraction> product =
      op.hasPureTensorSemantics() && op->getNumResults() == 1 && !readsWindows(op) ? contractionOf(op) : std::nullopt;
  if (!product || product->reduced.size() < 2 || op.getNumDpsInputs() != 2 || !isForTensorCores(*product))
    return false;
  double multiplications = 1;
  for (int64_t size : op.getStaticLoopRanges()) {
    if (ShapedType::isDynamic(size))
      return false;
    multiplications *= double(size);
  }
  // In the order of the first operand, of which all but the channels stay as they lie.
  SmallVector<unsigned> summed;
  OpOperand *first = op.getDpsInputOperand(0);
  for (AffineExpr expr : op.getMatchingIndexingMap(first).getResults())
    if (auto loop = dyn_cast<AffineDimExpr>(expr); loop && llvm::is_contained(product->reduced, loop.getPosition()))
      summed.push_back(loop.getPosition());
  const std::optional<Side> left = Side::of(op, first, summed), right = Side::of(op, op.getDpsInputOperand(1), summed);
  if (summed.size() != product->reduced.size() || !left || !right || multiplications < kLeastMultiplications ||
      (!left->isUnaligned() && !right->isUnaligned()))
    return false;
  // All that is summed is the first of these loops; the others are gone.
  OpBuilder b(op);
  const unsigned gone = summed.size() - 1;
  SmallVector<AffineExpr> loops(op.getNumLoops());
  SmallVector<utils::IteratorType> types;
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
    if (loop == summed.front() || !llvm::is_contained(summed, unsigned(loop))) {
      loops[loop] = b.getAffineDimExpr(unsigned(types.size()));
      types.push_back(type);
    } else {
      loops[loop] = b.getAffineConstantExpr(0);
    }
  auto mapOf = [&](ArrayRef<AffineExpr> results) {
    return AffineMap::get(op.getNumLoops(), 0, results, b.getContext())
        .replaceDimsAndSymbols(loops, {}, op.getNumLoops() - gone, 0);
  };
  SmallVector<AffineMap> maps;
  SmallVector<Value> operands;
  for (const Side *side : {&*left, &*right}) {
    operands.push_back(joined(b, op.getLoc(), *side));
    maps.push_back(mapOf(
        {b.getAffineDimExpr(summed.front()), op.getMatchingIndexingMap(side->operand).getResult(side->channels)}));
  }
  maps.push_back(mapOf(op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults()));
  auto made = linalg::GenericOp::create(b, op.getLoc(), op->getResultTypes(), operands, op.getDpsInits(), maps, types);
  made.getRegion().takeBody(op.getRegion());
  op->replaceAllUsesWith(made->getResults());
  op->erase();
  return true;
}

} // namespace tenon::compiler::dispatch
