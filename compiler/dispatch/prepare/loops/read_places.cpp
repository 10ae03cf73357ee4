// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/read_places.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// From the smallest to the largest number that an index may be.
struct Range {
  int64_t low, high;
};
// Sizes of tensors are below this, so that sums of a few are numbers still.
constexpr int64_t kLargest = int64_t(1) << 50;

std::optional<Range> rangeOf(Value index, linalg::GenericOp op, unsigned depth = 0) {
  constexpr unsigned kMostDepth = 12;
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)) && constant.getSignificantBits() < 50)
    return Range{constant.getSExtValue(), constant.getSExtValue()};
  Operation *inner = index.getDefiningOp();
  if (!inner || depth > kMostDepth)
    return std::nullopt;
  if (auto loop = dyn_cast<linalg::IndexOp>(inner)) {
    const int64_t size = op.getStaticLoopRanges()[loop.getDim()];
    return ShapedType::isDynamic(size) ? std::nullopt : std::optional(Range{0, std::max<int64_t>(size - 1, 0)});
  }
  if (auto cast = dyn_cast<arith::IndexCastOp>(inner)) // of i32, where it holds the number
    return rangeOf(cast.getIn(), op, depth + 1);
  if (inner->getNumOperands() != 2)
    return std::nullopt;
  const std::optional<Range> x = rangeOf(inner->getOperand(0), op, depth + 1),
                             y = rangeOf(inner->getOperand(1), op, depth + 1);
  const Range all = {-kLargest, kLargest};
  std::optional<Range> range;
  if (isa<arith::MaxSIOp>(inner) && (x || y))
    range = {std::max(x.value_or(all).low, y.value_or(all).low), std::max(x.value_or(all).high, y.value_or(all).high)};
  else if (isa<arith::MinSIOp>(inner) && (x || y))
    range = {std::min(x.value_or(all).low, y.value_or(all).low), std::min(x.value_or(all).high, y.value_or(all).high)};
  else if (isa<arith::AddIOp>(inner) && x && y)
    range = {x->low + y->low, x->high + y->high};
  else if (isa<arith::SubIOp>(inner) && x && y)
    range = {x->low - y->high, x->high - y->low};
  else if (isa<arith::DivUIOp>(inner) && x && y && x->low >= 0 && y->low > 0)
    range = {x->low / y->high, x->high / y->low};
  else if (isa<arith::RemUIOp>(inner) && y && y->low > 0)
    range = {0, y->high - 1};
  const int64_t most = index.getType().isInteger() && index.getType().getIntOrFloatBitWidth() < 50
                           ? (int64_t(1) << (index.getType().getIntOrFloatBitWidth() - 1)) - 1
                           : kLargest;
  if (!range || range->low < -most || range->high > most)
    return std::nullopt;
  return range;
}

/// Whether it was brought into the tensor already, whose size only the program knows, or into a part of it.
bool isClamped(Value index) {
  Operation *outer = index.getDefiningOp();
  if (outer && isa<arith::IndexCastOp, arith::AddIOp, arith::SubIOp>(outer))
    return llvm::any_of(outer->getOperands(), isClamped);
  if (!outer || !isa<arith::MaxSIOp, arith::MinSIOp>(outer))
    return false;
  return llvm::any_of(outer->getOperands(), [&](Value operand) {
    Operation *inner = operand.getDefiningOp();
    return inner && isa<arith::MaxSIOp, arith::MinSIOp>(inner) && inner->getName() != outer->getName();
  });
}

/// An affine.apply may have operands that its map does not look at: all loops of its operation.
bool dependsOn(Operation *inner, Value operand) {
  auto apply = dyn_cast<affine::AffineApplyOp>(inner);
  if (!apply)
    return true;
  const AffineMap map = apply.getAffineMap();
  for (auto [number, each] : llvm::enumerate(apply.getMapOperands()))
    if (each == operand &&
        (number < map.getNumDims() ? map.isFunctionOfDim(number) : map.isFunctionOfSymbol(number - map.getNumDims())))
      return true;
  return false;
}

} // namespace

ReadSources::ReadSources(Value value, linalg::GenericOp op) {
  llvm::SmallDenseSet<Value> seen;
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    Operation *inner = next.getDefiningOp();
    if (auto loop = dyn_cast_if_present<linalg::IndexOp>(inner)) {
      loops.insert(loop.getDim());
    } else if (inner ? op->isProperAncestor(inner) : op->isAncestor(next.getParentBlock()->getParentOp())) {
      hasElements |= !inner || inner->getNumRegions() != 0 || isa<tensor::ExtractOp>(inner);
      if (inner)
        llvm::copy_if(inner->getOperands(), std::back_inserter(open),
                      [&](Value operand) { return dependsOn(inner, operand); });
    }
  }
}

ReadPlace placeOf(Value index, int64_t size, linalg::GenericOp op) {
  const bool isKnown = !ShapedType::isDynamic(size);
  const std::optional<Range> range = rangeOf(index, op);
  if ((isKnown && range && range->low >= 0 && range->high < size) || (!isKnown && isClamped(index)))
    return ReadPlace::Inside;
  const ReadSources sources(index, op);
  if (sources.hasElements)
    return ReadPlace::Anywhere;
  // What other steps look up in numbers that they packed is what they say.
  return isKnown && !range && sources.loops.empty() ? ReadPlace::Inside : ReadPlace::OfLoops;
}

} // namespace tenon::compiler::dispatch
