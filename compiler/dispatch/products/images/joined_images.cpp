// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/images/joined_images.h"

#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"
#include "compiler/dispatch/products/orders/turned_tensor.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

constexpr int64_t kVectorBytes = 16;
// A product of fewer multiplications is over before copies are, and of fewer channels most of the time goes to reading.
constexpr double kLeastMultiplications = 1 << 26;
constexpr int64_t kLeastChannels = 64;
// Of tf32 on an H200, in a microsecond: operations of warps that read element by element, of warpgroups, and bytes that
// copies read and write.
constexpr double kByWarps = 35e6, kByWarpgroups = 250e6, kBytesInMicrosecond = 3e6;

/// An operand whose dimensions are each moved by a loop of its own: one of channels, and those that are summed over.
struct Side {
  OpOperand *operand;
  RankedTensorType type;
  unsigned channels;          // dimension
  SmallVector<int64_t> order; // of the dimensions: as loops are summed, channels last

  static std::optional<Side> of(linalg::GenericOp op, OpOperand *operand, ArrayRef<unsigned> summed);
  /// Whether what is summed lies behind each channel: tensor cores turn 16 bits alone.
  bool isAlong() const { return type.getElementType().isF32(); }
  bool isUnaligned() const {
    return type.getShape().back() * int64_t(elementBytes(type.getElementType())) % kVectorBytes != 0;
  }
};

std::optional<Side> Side::of(linalg::GenericOp op, OpOperand *operand, ArrayRef<unsigned> summed) {
  auto type = dyn_cast<RankedTensorType>(operand->get().getType());
  const AffineMap map = op.getMatchingIndexingMap(operand);
  const Type element = type ? type.getElementType() : Type();
  if (!type || !type.hasStaticShape() ||
      !(element.isBF16() || element.isF16() || (element.isF32() && hasHopperTf32(op))) ||
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
  side.order.insert(side.isAlong() ? side.order.begin() : side.order.end(), side.channels);
  const int64_t channels = type.getDimSize(side.channels);
  return side.channels + 1 != map.getNumResults() && channels >= kLeastChannels &&
                 channels * int64_t(elementBytes(type.getElementType())) % kVectorBytes == 0
             ? std::optional(side)
             : std::nullopt;
}

/// Whether two copies of tf32, and a product of them, take less time than a product of both sides as they lie.
bool isWorthCopies(const Side &left, const Side &right, double multiplications) {
  const double bytes = 2 * sizeof(float) * double(left.type.getNumElements() + right.type.getNumElements());
  return 2 * multiplications / kByWarpgroups + bytes / kBytesInMicrosecond < 2 * multiplications / kByWarps;
}

/// A copy of it with its channels last, or first, all that is summed one dimension.
Value joined(OpBuilder &b, Location loc, const Side &side) {
  Value tensor = turnedTo(b, loc, side.operand->get(), side.order);
  const int64_t last = side.type.getRank() - 1;
  const SmallVector<ReassociationIndices> parts =
      side.isAlong() ? SmallVector<ReassociationIndices>{{0}, llvm::to_vector(llvm::seq<int64_t>(1, last + 1))}
                     : SmallVector<ReassociationIndices>{llvm::to_vector(llvm::seq<int64_t>(0, last)), {last}};
  return tensor::CollapseShapeOp::create(b, loc, tensor, parts);
}

} // namespace

bool joinImages(linalg::GenericOp op) {
  const std::optional<Contraction> product =
      op.hasPureTensorSemantics() && op->getNumResults() == 1 && !readsWindows(op) ? contractionOf(op) : std::nullopt;
  if (!product || product->reduced.size() < 2 || op.getNumDpsInputs() != 2 || !mayRoundForTensorCores(*product))
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
      (!left->isUnaligned() && !right->isUnaligned()) || left->isAlong() != right->isAlong())
    return false;
  const int64_t places = left->type.getNumElements() / left->type.getDimSize(left->channels);
  if (left->isAlong() &&
      (places * int64_t(sizeof(float)) % kVectorBytes != 0 || !isWorthCopies(*left, *right, multiplications)))
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
    SmallVector<AffineExpr> results = {b.getAffineDimExpr(summed.front()),
                                       op.getMatchingIndexingMap(side->operand).getResult(side->channels)};
    if (side->isAlong())
      std::swap(results[0], results[1]);
    maps.push_back(mapOf(results));
  }
  maps.push_back(mapOf(op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults()));
  auto made = linalg::GenericOp::create(b, op.getLoc(), op->getResultTypes(), operands, op.getDpsInits(), maps, types);
  made.getRegion().takeBody(op.getRegion());
  op->replaceAllUsesWith(made->getResults());
  op->erase();
  return true;
}

} // namespace tenon::compiler::dispatch
