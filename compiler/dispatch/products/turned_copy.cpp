// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/turned_copy.h"

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/analysis/slices.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

// A matrix is read either way where its rows are whole vectors.
static constexpr int64_t kVectorBytes = 16;

std::optional<linalg::GenericOp> turnedCopyOf(OpOperand &operand, bool mayHaveMore) {
  auto copy = operand.get().getDefiningOp<linalg::GenericOp>();
  if (!copy || !isCopy(copy))
    return std::nullopt;
  const SmallVector<AffineMap> maps = copy.getIndexingMapsArray();
  const SmallVector<int64_t> ranges = copy.getStaticLoopRanges();
  const bool hasAllElements = llvm::all_of(llvm::enumerate(ranges), [&](auto range) {
    return (mayHaveMore && range.value() == 1) || maps[0].isFunctionOfDim(unsigned(range.index()));
  });
  if (!maps[0].isProjectedPermutation() || !maps[1].isPermutation() || !hasAllElements ||
      maps[0].getResults().empty() || maps[0].getResults().back() == maps[1].getResults().back() ||
      !isa<RankedTensorType>(copy.getDpsInputs()[0].getType()))
    return std::nullopt;
  return copy;
}

bool readsEitherWay(OpOperand &operand) {
  const std::optional<linalg::GenericOp> copy = turnedCopyOf(operand, /*mayHaveMore=*/true);
  auto op = dyn_cast<linalg::GenericOp>(operand.getOwner());
  const std::optional<Contraction> product = copy && op ? productOf(op) : std::nullopt;
  if (!product || isOfAttention(op) || op.isDpsInit(&operand) || product->reduced.size() != 1)
    return false;
  // Lanes of few rows read f32 either way, too.
  const bool isOfLanes = factorTypeOf(product->right.value).isF32() && fewRowsOf(*product);
  if (!isOfLanes && !isForTensorCores(*product))
    return false;
  auto source = cast<RankedTensorType>(linalg::GenericOp(*copy).getDpsInputs()[0].getType());
  const Type element = source.getElementType();
  const AffineMap read = op.getMatchingIndexingMap(&operand);
  const SmallVector<AffineMap> maps = linalg::GenericOp(*copy).getIndexingMapsArray();
  SmallVector<AffineExpr> swapped(maps[0].getResults());
  if (swapped.size() < 2 || !(element.isF16() || element.isBF16() || isOfLanes) || !read.isProjectedPermutation() ||
      llvm::is_contained(op.getStaticLoopRanges(), ShapedType::kDynamic) ||
      source.getShape().back() * elementBytes(element) % kVectorBytes != 0)
    return false;
  // Of a batch of matrices whose rows are apart, heads beside each other, none lies as it is read.
  std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
  const bool isLeft = llvm::is_contained(product->left.inputs, operand.getOperandNumber());
  const ContractionSide &side = isLeft ? product->left : product->right;
  auto argument = dyn_cast<BlockArgument>(beforeExtension(side.value));
  if (ArrayRef(swapped) != maps[1].getResults().take_back(swapped.size()) ||
      argument != op.getMatchingBlockArgument(&operand))
    return false;
  // Its rows that lie across are those of one loop, or they begin anew within a tile.
  const unsigned last = read.getDimPosition(read.getNumResults() - 2); // in the source
  return last == product->reduced.front() || (isLeft ? product->rows : product->columns).size() == 1;
}

} // namespace tenon::compiler::dispatch
