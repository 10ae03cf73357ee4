// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/chains/kept_weights.h"

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/attention/chains/same_weights.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Weights that are kept are factors of tensor cores in rows that copies write.
// They are stored while four products run: those of one tile of columns take less time (depth 64 on an H200: 0.9 ps for
// a weight, which takes 1.3 ps to be stored).
constexpr int64_t kFactorBits = 16, kKeysOfVector = 8, kLeastKeptColumns = 65;

/// The type of 16 bits to which a product rounds the weights that it reads; null: it does something else.
Type roundedBy(linalg::GenericOp product) {
  Type type;
  for (Operation *user : product.getMatchingBlockArgument(weightsOf(product)).getUsers()) {
    auto rounded = dyn_cast<arith::TruncFOp>(user);
    if (!rounded || (type && type != rounded.getType()) || rounded.getType().getIntOrFloatBitWidth() != kFactorBits)
      return {};
    type = rounded.getType();
  }
  return type;
}

/// Whether all of the second weights are computed, and have a place in memory, from where copies bring them.
bool mayBeKept(linalg::GenericOp twins, int64_t most) {
  auto type = cast<RankedTensorType>(twins->getResult(1).getType());
  // A key that is hidden is found by its number.
  const bool hides = !twins.getBody()->getOps<linalg::IndexOp>().empty();
  return !hides && type.hasStaticShape() && type.getElementType().isF32() &&
         twins.getIndexingMapMatchingResult(cast<OpResult>(twins->getResult(1))).isIdentity() &&
         type.getShape().back() % kKeysOfVector == 0 && type.getNumElements() * kFactorBits / 8 <= most;
}

/// The second weights as factors, which the kernel of twins stores.
Value keptBy(linalg::GenericOp twins, Type factor, OpBuilder &b) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(twins);
  const Location loc = twins.getLoc();
  Value weights = twins->getResult(1);
  auto type = cast<RankedTensorType>(weights.getType());
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), factor);
  const SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
  const SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  auto kept = linalg::GenericOp::create(
      b, loc, empty.getType(), weights, empty, maps, loops, [&](OpBuilder &inside, Location at, ValueRange values) {
        linalg::YieldOp::create(inside, at, arith::TruncFOp::create(inside, at, factor, values[0]).getResult());
      });
  kept->setAttr(kChainAttr, twins->getAttr(kChainAttr));
  kept->setAttr(kAcrossAttr, b.getUnitAttr());
  return kept->getResult(0);
}

/// Loops of some dimensions of an operand, that stand there side by side in this order; where the first of them is.
std::optional<size_t> placeOf(AffineMap map, ArrayRef<unsigned> loops) {
  for (size_t first = 0; first + loops.size() <= map.getNumResults(); ++first)
    if (llvm::all_of(llvm::enumerate(loops), [&](auto each) {
          return map.getResult(first + each.index()) == getAffineDimExpr(each.value(), map.getContext());
        }))
      return first;
  return std::nullopt;
}

SmallVector<ReassociationIndices> groupsOf(size_t rank, size_t first, size_t count) {
  SmallVector<ReassociationIndices> groups;
  for (size_t at = 0; at < rank; ++at)
    if (at > first && at < first + count)
      groups.back().push_back(int64_t(at));
    else
      groups.push_back({int64_t(at)});
  return groups;
}

/// What alone reads a sum, and computes each element from one; null: something else does.
linalg::GenericOp roundingOf(linalg::GenericOp sum) {
  Value value = sum->getResult(0);
  auto reader = value.hasOneUse() ? dyn_cast<linalg::GenericOp>(*value.getUsers().begin()) : linalg::GenericOp();
  const bool isElementwise =
      reader && reader->getBlock() == sum->getBlock() && reader->getNumResults() == 1 &&
      reader.getNumReductionLoops() == 0 && reader.getDpsInputs().size() == 1 && reader.getDpsInputs()[0] == value &&
      !reader.hasIndexSemantics() &&
      llvm::all_of(reader.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }) &&
      reader.getMatchingBlockArgument(reader.getDpsInitOperand(0)).use_empty();
  return isElementwise ? reader : linalg::GenericOp();
}

/// Loops that only weights and the result of a product have.
SmallVector<unsigned> rowsOf(linalg::GenericOp product, OpOperand *weights) {
  const std::optional<Contraction> form = contractionOf(product);
  const bool isLeft = product.getDpsInputOperand(form->left.inputs.front()) == weights;
  return llvm::to_vector(isLeft ? form->rows : form->columns);
}

/// A product whose rows are several loops, side by side in `weights` and in the result, as one of as many rows: then
/// they have a tensor map.
void joinRows(linalg::GenericOp product, OpOperand *weights, IRRewriter &rewriter) {
  const SmallVector<unsigned> rows = rowsOf(product, weights);
  const unsigned number = weights->getOperandNumber();
  const std::optional<size_t> from = placeOf(product.getMatchingIndexingMap(weights), rows),
                              to = placeOf(product.getIndexingMapsArray().back(), rows);
  auto type = cast<RankedTensorType>(product->getResult(0).getType());
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(product);
  const Location loc = product.getLoc();
  const auto groups = groupsOf(type.getRank(), *to, rows.size());
  auto joined = [&](ArrayRef<int64_t> shape, size_t first) {
    SmallVector<int64_t> sizes = llvm::to_vector(shape);
    for (size_t more = 1; more < rows.size(); ++more)
      sizes[first] *= sizes[first + more];
    sizes.erase(sizes.begin() + first + 1, sizes.begin() + first + rows.size());
    return sizes;
  };
  SmallVector<Value> inputs = product.getDpsInputs();
  inputs[number] = tensor::CollapseShapeOp::create(
      rewriter, loc, inputs[number],
      groupsOf(cast<RankedTensorType>(inputs[number].getType()).getRank(), *from, rows.size()));
  Value empty = tensor::EmptyOp::create(rewriter, loc, joined(type.getShape(), *to), type.getElementType());
  Value zero = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
  Value start = linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
  // Loops that are left, by their new numbers.
  SmallVector<AffineExpr> numbers;
  SmallVector<utils::IteratorType> loops;
  for (auto [loop, kind] : llvm::enumerate(product.getIteratorTypesArray())) {
    const bool isJoined = llvm::is_contained(ArrayRef(rows).drop_front(), loop);
    numbers.push_back(isJoined ? rewriter.getAffineConstantExpr(0) : rewriter.getAffineDimExpr(loops.size()));
    if (!isJoined)
      loops.push_back(kind);
  }
  SmallVector<AffineMap> maps;
  for (AffineMap map : product.getIndexingMapsArray()) {
    SmallVector<AffineExpr> results;
    for (AffineExpr expr : map.getResults())
      if (AffineExpr other = expr.replaceDims(numbers); isa<AffineDimExpr>(other))
        results.push_back(other);
    maps.push_back(AffineMap::get(loops.size(), 0, results, rewriter.getContext()));
  }
  auto made = linalg::GenericOp::create(rewriter, loc, start.getType(), inputs, start, maps, loops);
  rewriter.cloneRegionBefore(product.getRegion(), made.getRegion(), made.getRegion().end());
  Operation *replaced = product;
  Value result = made->getResult(0);
  if (linalg::GenericOp rounding = roundingOf(product)) { // in the product's kernel
    rewriter.setInsertionPoint(rounding);                 // behind the numbers that its body has from outside
    type = cast<RankedTensorType>(rounding->getResult(0).getType());
    Value narrow = tensor::EmptyOp::create(rewriter, loc, joined(type.getShape(), *to), type.getElementType());
    const auto rank = unsigned(type.getRank() + 1 - rows.size());
    auto rounded = linalg::GenericOp::create(rewriter, loc, narrow.getType(), result, narrow,
                                             SmallVector<AffineMap>(2, rewriter.getMultiDimIdentityMap(rank)),
                                             SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel));
    rewriter.cloneRegionBefore(rounding.getRegion(), rounded.getRegion(), rounded.getRegion().end());
    replaced = rounding;
    result = rounded->getResult(0);
  }
  rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(replaced, type, result, groups);
  if (replaced != product)
    rewriter.eraseOp(product);
}

/// `across` reads what the kernel of twins stores.
bool keep(linalg::GenericOp twins, linalg::GenericOp last, linalg::GenericOp later, linalg::GenericOp across,
          IRRewriter &rewriter, int64_t most) {
  const std::optional<Contraction> product = contractionOf(last);
  const bool isLeft = last.getDpsInputOperand(product->left.inputs.front()) == weightsOf(last);
  const bool isLong = knownSizeOf(last, isLeft ? product->columns : product->rows).value_or(0) >= kLeastKeptColumns;
  const std::optional<AffineMap> place =
      isLong && mayBeKept(twins, most) ? readOfWeights(twins, last, across) : std::nullopt;
  const Type factor = place ? roundedBy(across) : Type();
  // Both multiply as the scores of these weights are multiplied (chain.cpp), so they round alike; who stores the one's
  // factors for the other relies on it.
  if (!factor || factor != roundedBy(last))
    return false;
  OpOperand *weights = weightsOf(across);
  const SmallVector<unsigned> rows = rowsOf(across, weights);
  const bool haveMap =
      rows.size() == 1 || (placeOf(*place, rows) && placeOf(across.getIndexingMapsArray().back(), rows));
  if (!haveMap || (across->isBeforeInBlock(later) && !moveBehind(across, later)))
    return false;
  BlockArgument weight = across.getMatchingBlockArgument(weights);
  readWeights(across, keptBy(twins, factor, rewriter), *place, rewriter);
  weight.setType(factor);
  for (Operation *rounded : llvm::make_early_inc_range(weight.getUsers()))
    rewriter.replaceOp(rounded, weight);
  forgetWeights(across);
  if (rows.size() > 1)
    joinRows(across, weights, rewriter);
  return true;
}

} // namespace

void keepWeights(func::FuncOp function, int64_t most) {
  forSameWeights(function,
                 [&](linalg::GenericOp twins, linalg::GenericOp last, linalg::GenericOp later, linalg::GenericOp across,
                     IRRewriter &rewriter) { return keep(twins, last, later, across, rewriter, most); });
}

} // namespace tenon::compiler::dispatch
