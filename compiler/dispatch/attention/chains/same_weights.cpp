// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/chains/same_weights.h"

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/products/contraction.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// On the last product of a chain: the number of the tensor that held its weights, and how the product read it.
constexpr StringLiteral kWeightsAttr = "tenon.weights";

// Rows of a tile of the kernel for all, and so many tiles keep a large device busy.
constexpr int64_t kTileRows = 128, kEnoughTiles = 64;

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

/// The operation that reads a result of twins, where it is one product.
linalg::GenericOp lastOf(Value weights) {
  auto op = weights.hasOneUse() ? dyn_cast<linalg::GenericOp>(*weights.getUsers().begin()) : linalg::GenericOp();
  return op && op.getNumReductionLoops() != 0 && contractionOf(op) ? op : linalg::GenericOp();
}

} // namespace

void nameWeights(linalg::GenericOp last, Weights weights) {
  OpBuilder b(last);
  last->setAttr(kWeightsAttr, b.getArrayAttr({b.getI64IntegerAttr(weights.number), AffineMapAttr::get(weights.read)}));
}

std::optional<Weights> weightsReadBy(linalg::GenericOp last) {
  auto known = last->getAttrOfType<ArrayAttr>(kWeightsAttr);
  if (!known)
    return std::nullopt;
  return Weights{cast<IntegerAttr>(known[0]).getInt(), cast<AffineMapAttr>(known[1]).getValue()};
}

void forgetWeights(linalg::GenericOp last) {
  last->removeAttr(kChainAttr);
  last->removeAttr(kWeightsAttr);
}

OpOperand *weightsOf(linalg::GenericOp op) {
  for (OpOperand *input : op.getDpsInputOperands())
    if (auto producer = input->get().getDefiningOp<linalg::GenericOp>();
        producer && producer->hasAttr(kChainAttr) && producer->getAttr(kChainAttr) == op->getAttr(kChainAttr))
      return input;
  return nullptr;
}

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

void readWeights(linalg::GenericOp across, Value weights, AffineMap place, IRRewriter &rewriter) {
  OpOperand *read = weightsOf(across);
  SmallVector<AffineMap> maps = across.getIndexingMapsArray();
  maps[read->getOperandNumber()] = place;
  across.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  read->set(weights);
}

void forSameWeights(func::FuncOp function, Joining join) {
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

} // namespace tenon::compiler::dispatch
