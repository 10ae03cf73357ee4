// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/triplets.h"

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/attention/chain.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// On the last product of a chain: the number of the tensor that held its weights, and how the product read it.
constexpr StringLiteral kWeightsAttr = "tenon.weights";

// Rows of a tile of the kernel for all, and so many tiles keep a large device busy.
constexpr int64_t kTileRows = 128, kEnoughTiles = 64;

// Weights that are kept are factors of tensor cores in rows that copies write.
// They are stored while four products run: those of fewer columns take less time (depth 64 on an H200: 0.9 ps for a
// weight, which takes 1.3 ps to be stored).
constexpr int64_t kFactorBits = 16, kKeysOfVector = 8, kLeastKeptColumns = 128;

struct Weights {
  int64_t number;
  AffineMap read;
};

std::optional<Weights> weightsReadBy(linalg::GenericOp op) {
  auto known = op->getAttrOfType<ArrayAttr>(kWeightsAttr);
  if (!known)
    return std::nullopt;
  return Weights{cast<IntegerAttr>(known[0]).getInt(), cast<AffineMapAttr>(known[1]).getValue()};
}

/// Which input of a last product the weights of its chain are.
OpOperand *weightsOf(linalg::GenericOp op) {
  for (OpOperand *input : op.getDpsInputOperands())
    if (auto producer = input->get().getDefiningOp<linalg::GenericOp>();
        producer && producer->hasAttr(kChainAttr) && producer->getAttr(kChainAttr) == op->getAttr(kChainAttr))
      return input;
  return nullptr;
}

/// Whether all factors but weights are read as they stand, neighbours along the depth or the columns: such has a tensor
/// map.
bool liesInRows(linalg::GenericOp op) {
  const std::optional<Contraction> product = contractionOf(op);
  if (!product || product->left.inputs.size() != 1 || product->right.inputs.size() != 1 || product->reduced.empty())
    return false;
  OpOperand *weights = weightsOf(op);
  for (const ContractionSide *side : {&product->left, &product->right}) {
    OpOperand *input = op.getDpsInputOperand(side->inputs.front());
    if (input == weights)
      continue;
    AffineMap map = op.getMatchingIndexingMap(input);
    const bool isLeft = side == &product->left;
    const ArrayRef<unsigned> across = isLeft ? product->rows : product->columns;
    const SmallVector<unsigned> innermost = weights ? llvm::to_vector(across) : llvm::to_vector(product->reduced);
    if (!map.isProjectedPermutation() || map.getNumResults() == 0 || innermost.size() != 1 ||
        cast<AffineDimExpr>(map.getResults().back()).getPosition() != innermost.front())
      return false;
  }
  return true;
}

bool startsFromZero(linalg::GenericOp op) {
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.getInputs()[0], m_PosZeroFloat());
}

/// Whether there are as many tiles as a device computes at once, and the columns are those of `across`.
bool isWorthIt(linalg::GenericOp last, linalg::GenericOp across) {
  const std::optional<Contraction> product = contractionOf(last), other = contractionOf(across);
  const bool isLeft = last.getDpsInputOperand(product->left.inputs.front()) == weightsOf(last),
             otherIsLeft = across.getDpsInputOperand(other->left.inputs.front()) == weightsOf(across);
  const std::optional<int64_t> rows = knownSizeOf(last, isLeft ? product->rows : product->columns),
                               batch = knownSizeOf(last, product->batch),
                               columns = knownSizeOf(last, isLeft ? product->columns : product->rows);
  if (!columns || columns != knownSizeOf(across, otherIsLeft ? other->columns : other->rows))
    return false;
  return !rows || !batch || *batch * int64_t(llvm::divideCeil(uint64_t(*rows), uint64_t(kTileRows))) >= kEnoughTiles;
}

/// Whoever reads `first` and stands before `second` goes behind it, in the same order, as does `first`; false where
/// something there cannot.
bool moveBehind(Operation *first, Operation *second) {
  llvm::SetVector<Operation *> late;
  late.insert(first);
  for (Operation *op = first->getNextNode(); op != second; op = op->getNextNode()) {
    bool reads = false;
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        reads |= late.contains(operand.getDefiningOp());
    });
    if (reads && !isMemoryEffectFree(op))
      return false;
    if (reads)
      late.insert(op);
  }
  if (llvm::any_of(second->getOperands(), [&](Value operand) { return late.contains(operand.getDefiningOp()); }))
    return false;
  Operation *after = second;
  for (Operation *op : late) {
    op->moveAfter(after);
    after = op;
  }
  return true;
}

/// Whether `across` stands right behind the later product of twins then.
bool moveTo(linalg::GenericOp across, linalg::GenericOp later, IRRewriter &rewriter) {
  if (across->isBeforeInBlock(later))
    return moveBehind(across, later);
  if (failed(moveValueDefinitions(rewriter, across.getDpsInits(), later)))
    return false;
  across->moveAfter(later);
  return true;
}

/// The last product `across` of a chain whose weights those of `last` are, too: how its loops stand for theirs; nothing
/// where it is another product.
/// @param twins the second weights of which `last` reads
std::optional<AffineMap> readOfWeights(linalg::GenericOp twins, linalg::GenericOp last, linalg::GenericOp across) {
  OpOperand *here = weightsOf(across), *there = weightsOf(last);
  auto own = here ? here->get().getDefiningOp<linalg::GenericOp>() : linalg::GenericOp();
  const std::optional<Weights> read = weightsReadBy(across), known = weightsReadBy(last);
  const std::optional<Contraction> product = contractionOf(across);
  if (!own || !there || own->getNumResults() != 1 || across->getBlock() != last->getBlock() || !product ||
      product->reduced.size() != 1 || !startsFromZero(across) || !liesInRows(across) ||
      getElementTypeOrSelf(own->getResult(0)) != getElementTypeOrSelf(twins->getResult(1)) || !isWorthIt(last, across))
    return std::nullopt;
  // Loops of the one product that are loops of the other: where both read the tensor of the program.
  llvm::DenseMap<unsigned, AffineExpr> loopOf;
  for (auto [one, other] : llvm::zip_equal(known->read.getResults(), read->read.getResults()))
    if (isa<AffineDimExpr>(one) && isa<AffineDimExpr>(other))
      loopOf[cast<AffineDimExpr>(one).getPosition()] = other;
  SmallVector<AffineExpr> place;
  for (AffineExpr expr : last.getMatchingIndexingMap(there).getResults()) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop || !loopOf.contains(loop.getPosition()))
      return std::nullopt;
    place.push_back(loopOf.lookup(loop.getPosition()));
  }
  return AffineMap::get(across.getNumLoops(), 0, place, across.getContext());
}

/// `across` reads `weights`, at such places.
void readWeights(linalg::GenericOp across, Value weights, AffineMap place, IRRewriter &rewriter) {
  OpOperand *read = weightsOf(across);
  SmallVector<AffineMap> maps = across.getIndexingMapsArray();
  maps[read->getOperandNumber()] = place;
  across.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  read->set(weights);
}

/// The last product of `across`'s chain as one of the chain that `twins` are the weights of.
/// @param last that of the same weights; @param later the one of both last products of twins that is
bool join(linalg::GenericOp twins, linalg::GenericOp last, linalg::GenericOp later, linalg::GenericOp across,
          IRRewriter &rewriter) {
  const std::optional<AffineMap> place = readOfWeights(twins, last, across);
  if (!place)
    return false;
  // The keys that it multiplies are those of the scores: defined before the twins, and brought by their kernel.
  Value keys = across.getDpsInputs()[1 - weightsOf(across)->getOperandNumber()];
  const bool isFactor = llvm::any_of(twins.getDpsInputs(), [&](Value input) {
    auto scores = input.getDefiningOp<linalg::GenericOp>();
    return scores && scores->hasAttr(kChainAttr) && llvm::is_contained(scores.getDpsInputs(), keys);
  });
  if (!isFactor || !moveTo(across, later, rewriter))
    return false;
  readWeights(across, twins->getResult(1), *place, rewriter);
  across->setAttr(kChainAttr, twins->getAttr(kChainAttr));
  across->setAttr(kAcrossAttr, rewriter.getUnitAttr());
  return true;
}

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
  if (!factor)
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
  across->removeAttr(kChainAttr);
  across->removeAttr(kWeightsAttr);
  if (rows.size() > 1)
    joinRows(across, weights, rewriter);
  return true;
}

/// The operation that reads a result of twins, where it is one product.
linalg::GenericOp lastOf(Value weights) {
  auto op = weights.hasOneUse() ? dyn_cast<linalg::GenericOp>(*weights.getUsers().begin()) : linalg::GenericOp();
  return op && op.getNumReductionLoops() != 0 && contractionOf(op) ? op : linalg::GenericOp();
}

} // namespace

int64_t buildChains(func::FuncOp function) {
  KeyRanges ranges;
  int64_t count = 0;
  OpBuilder b(function.getContext());
  llvm::MapVector<Value, int64_t> numbers;
  for (Block &block : function.getBody())
    for (const AttentionMatch &match : chainsOf(block)) {
      linalg::GenericOp before = match.output;
      OpOperand *weights = before.getDpsInputOperand(match.weights);
      const int64_t number = numbers.insert({weights->get(), int64_t(numbers.size())}).first->second;
      AffineMap read = before.getMatchingIndexingMap(weights);
      linalg::GenericOp output = buildChain(match, count++, ranges);
      output->setAttr(kWeightsAttr, b.getArrayAttr({b.getI64IntegerAttr(number), AffineMapAttr::get(read)}));
    }
  return count;
}

using Joining = llvm::function_ref<bool(linalg::GenericOp twins, linalg::GenericOp last, linalg::GenericOp later,
                                        linalg::GenericOp across, IRRewriter &rewriter)>;

/// Of all twins of the function that Hopper's kernel takes.
static void forTriplets(func::FuncOp function, Joining join) {
  IRRewriter rewriter(function.getContext());
  for (Block &block : function.getBody()) {
    SmallVector<linalg::GenericOp> twins, lasts;
    for (auto op : block.getOps<linalg::GenericOp>()) {
      if (op->hasAttr(kChainAttr) && op->getNumResults() == 2 && op.getNumReductionLoops() == 0)
        twins.push_back(op);
      if (weightsReadBy(op) && op.getNumReductionLoops() != 0)
        lasts.push_back(op);
    }
    for (linalg::GenericOp each : twins) {
      linalg::GenericOp one = lastOf(each->getResult(0)), other = lastOf(each->getResult(1));
      const std::optional<Weights> known = other ? weightsReadBy(other) : std::nullopt;
      const bool isPlain =
          one && known && liesInRows(one) && liesInRows(other) && llvm::all_of(each.getDpsInputs(), [](Value input) {
            auto scores = input.getDefiningOp<linalg::GenericOp>();
            return !scores || !scores->hasAttr(kChainAttr) || liesInRows(scores);
          });
      if (!isPlain)
        continue;
      linalg::GenericOp later = one->isBeforeInBlock(other) ? other : one;
      for (linalg::GenericOp across : lasts)
        if (const std::optional<Weights> read = weightsReadBy(across);
            across != one && across != other && read && read->number == known->number &&
            !across->hasAttr(kAcrossAttr) && join(each, other, later, across, rewriter)) {
          llvm::erase(lasts, across); // which may be another operation now
          break;
        }
    }
  }
}

void joinTriplets(func::FuncOp function) {
  forTriplets(function, join);
}

void keepWeights(func::FuncOp function, int64_t most) {
  forTriplets(function,
              [&](linalg::GenericOp twins, linalg::GenericOp last, linalg::GenericOp later, linalg::GenericOp across,
                  IRRewriter &rewriter) { return keep(twins, last, later, across, rewriter, most); });
}

} // namespace tenon::compiler::dispatch
