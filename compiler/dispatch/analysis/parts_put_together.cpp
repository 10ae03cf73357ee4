// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/parts_put_together.h"

#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Fewer that are adjacent are near enough to their neighbours in any order.
constexpr int64_t kFewAdjacent = 8;
// A block that writes rows so short reads what is adjacent of many of them.
constexpr int64_t kShortRow = 64;
// Of neighbours in a row that are no further apart, threads use most of what memory brings.
constexpr int64_t kNearBytes = 64;

/// The loop that the last dimension is; none where there is none of many elements.
std::optional<unsigned> lastLoopOf(AffineMap map, ArrayRef<int64_t> sizes) {
  auto last = map.getNumResults() < 2 ? AffineDimExpr(nullptr) : dyn_cast<AffineDimExpr>(map.getResults().back());
  if (!last)
    return std::nullopt;
  const int64_t size = sizes[last.getPosition()];
  return ShapedType::isDynamic(size) || size >= kFewAdjacent ? std::optional(last.getPosition()) : std::nullopt;
}

bool isElementwise(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() && op.getNumReductionLoops() == 0 && op->getNumResults() == 1 &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation();
}

/// Whether an operation that writes along loop `to` may read a tensor that lies along `from` as it is.
bool isNear(linalg::GenericOp op, OpOperand &operand, unsigned from, unsigned to) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (!ShapedType::isDynamic(sizes[to]) && sizes[to] <= kShortRow)
    return true;
  const AffineMap map = op.getMatchingIndexingMap(&operand);
  const Type element = cast<RankedTensorType>(operand.get().getType()).getElementType();
  return !ShapedType::isDynamic(sizes[from]) && sizes[from] * int64_t(elementBytes(element)) <= kNearBytes &&
         map.getNumResults() > 1 && map.getResult(map.getNumResults() - 2) == getAffineDimExpr(to, op.getContext());
}

} // namespace

std::optional<unsigned> loopOfPlaces(linalg::GenericOp op) {
  if (!isElementwise(op))
    return std::nullopt;
  const std::optional<unsigned> last =
      lastLoopOf(op.getMatchingIndexingMap(op.getDpsInitOperand(0)), op.getStaticLoopRanges());
  if (!last)
    return std::nullopt;
  // Its last index is made of that loop; a number that is looked up by it, of a vector, is not.
  auto isAlong = [&](tensor::ExtractOp read) {
    SmallVector<Value> open = {read.getIndices().empty() ? Value() : read.getIndices().back()};
    for (size_t next = 0; next < open.size() && next < 32; ++next) {
      Operation *by = open[next] ? open[next].getDefiningOp() : nullptr;
      if (auto index = dyn_cast_or_null<linalg::IndexOp>(by); index && index.getDim() == *last)
        return read.getIndices().size() > 1;
      if (by && by->getBlock() == op.getBody() && !isa<tensor::ExtractOp>(by))
        llvm::append_range(open, by->getOperands());
    }
    return false;
  };
  bool found = false;
  op.getBody()->walk([&](tensor::ExtractOp read) { found |= isAlong(read); });
  return found ? last : std::nullopt;
}

bool turnsFar(linalg::GenericOp op, unsigned from, unsigned to) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const Type element = cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  return from != to && (ShapedType::isDynamic(sizes[to]) || sizes[to] > kShortRow) &&
         (ShapedType::isDynamic(sizes[from]) || sizes[from] * int64_t(elementBytes(element)) > kNearBytes);
}

bool turnsPlaces(OpOperand &operand) {
  auto producer = operand.get().getDefiningOp<linalg::GenericOp>();
  auto reader = dyn_cast<linalg::GenericOp>(operand.getOwner());
  if (!producer || !reader || !isElementwise(reader) || !loopOfPlaces(producer))
    return false;
  const SmallVector<int64_t> sizes = reader.getStaticLoopRanges();
  const AffineMap read = reader.getMatchingIndexingMap(&operand);
  const std::optional<unsigned> from = lastLoopOf(read, sizes),
                                to = lastLoopOf(reader.getMatchingIndexingMap(reader.getDpsInitOperand(0)), sizes);
  return read.isPermutation() && from && to && from != to && !isNear(reader, operand, *from, *to);
}

bool turnsOperand(linalg::GenericOp op) {
  if (!isElementwise(op))
    return false;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const std::optional<unsigned> to = lastLoopOf(op.getMatchingIndexingMap(op.getDpsInitOperand(0)), sizes);
  return to && llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
           const AffineMap map = op.getMatchingIndexingMap(input);
           const std::optional<unsigned> from = map.isPermutation() ? lastLoopOf(map, sizes) : std::nullopt;
           return from && from != to && !isNear(op, *input, *from, *to);
         });
}

} // namespace tenon::compiler::dispatch
