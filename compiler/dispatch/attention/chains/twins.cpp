// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/chains/twins.h"

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/products/contraction.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Sums of both and scores of 64 keys are what the registers of a warpgroup hold. Columns fill tiles of 64, or a
// quarter of one and more, whose other columns are zeros.
constexpr int64_t kMostColumns = 128, kColumnsStep = 8, kLeastColumns = 16;
// Rows of a tile of a kernel for both, and so many tiles keep a large device busy.
constexpr int64_t kTileRows = 128, kEnoughTiles = 64;

struct Chain {
  SmallVector<linalg::GenericOp, 2> scores;
  linalg::GenericOp weights, output;
};

/// Those of a block, by their numbers.
llvm::MapVector<Attribute, Chain> chainsIn(Block &block) {
  llvm::MapVector<Attribute, Chain> chains;
  for (auto op : block.getOps<linalg::GenericOp>())
    if (Attribute number = op->getAttr(kChainAttr); number && op.getNumReductionLoops() == 0)
      chains[number].weights = op;
  for (auto op : block.getOps<linalg::GenericOp>()) {
    Attribute number = op->getAttr(kChainAttr);
    if (!number || op.getNumReductionLoops() == 0)
      continue;
    Chain &chain = chains[number];
    if (chain.weights && llvm::is_contained(op.getDpsInputs(), chain.weights->getResult(0)))
      chain.output = op;
    else
      chain.scores.push_back(op);
  }
  chains.remove_if([](auto &each) { return !each.second.weights || !each.second.output; });
  return chains;
}

/// Whether both multiply the same.
bool areEqual(linalg::GenericOp one, linalg::GenericOp other) {
  return OperationEquivalence::isEquivalentTo(
      one, other, OperationEquivalence::IgnoreLocations | OperationEquivalence::IgnoreDiscardableAttrs);
}

/// How the last product sees its weights: which loops are rows, the key, the columns.
struct Last {
  Contraction product;
  bool weightsAreLeft;

  ArrayRef<unsigned> rows() const { return weightsAreLeft ? product.rows : product.columns; }
  ArrayRef<unsigned> columns() const { return weightsAreLeft ? product.columns : product.rows; }
  Value values(linalg::GenericOp op) const {
    const ContractionSide &side = weightsAreLeft ? product.right : product.left;
    return side.inputs.size() == 1 ? op.getDpsInputs()[side.inputs.front()] : Value();
  }
};

std::optional<Last> lastOf(const Chain &chain) {
  linalg::GenericOp output = chain.output;
  const std::optional<Contraction> product = contractionOf(output);
  if (!product || product->left.inputs.size() != 1 || product->right.inputs.size() != 1)
    return std::nullopt;
  linalg::GenericOp weights = chain.weights;
  return Last{*product, output.getDpsInputs()[product->left.inputs.front()] == weights->getResult(0)};
}

/// Whether Hopper's kernel for both takes one of them, and has enough to do.
bool isWorthIt(const Chain &chain, const Last &last) {
  linalg::GenericOp output = chain.output;
  const std::optional<int64_t> columns = knownSizeOf(output, last.columns());
  if (!columns || last.columns().size() != 1 || *columns > kMostColumns || *columns % kColumnsStep != 0 ||
      *columns < kLeastColumns)
    return false;
  for (linalg::GenericOp scores : chain.scores) {
    const std::optional<Contraction> product = contractionOf(scores);
    if (!product || knownSizeOf(scores, product->reduced) != columns)
      return false;
  }
  const std::optional<int64_t> rows = knownSizeOf(output, last.rows()), batch = knownSizeOf(output, last.product.batch);
  return !rows || !batch || *batch * int64_t(llvm::divideCeil(uint64_t(*rows), uint64_t(kTileRows))) >= kEnoughTiles;
}

/// The weights of both as one operation; what they share is computed once.
linalg::GenericOp joinWeights(Chain &fewer, Chain &more, linalg::GenericOp sharedOfFewer, linalg::GenericOp shared,
                              OpBuilder &b) {
  SmallVector<Value> inputs, starts = {fewer.weights.getDpsInits()[0], more.weights.getDpsInits()[0]};
  SmallVector<AffineMap> maps;
  SmallVector<SmallVector<unsigned>, 2> places;
  for (linalg::GenericOp op : {fewer.weights, more.weights}) {
    SmallVector<unsigned> &ofOp = places.emplace_back();
    for (OpOperand *operand : op.getDpsInputOperands()) {
      Value input = operand->get() == sharedOfFewer->getResult(0) ? shared->getResult(0) : operand->get();
      AffineMap map = op.getMatchingIndexingMap(operand);
      unsigned place = 0;
      while (place < inputs.size() && (inputs[place] != input || maps[place] != map))
        ++place;
      if (place == inputs.size()) {
        inputs.push_back(input);
        maps.push_back(map);
      }
      ofOp.push_back(place);
    }
  }
  for (linalg::GenericOp op : {fewer.weights, more.weights})
    maps.push_back(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
  auto joined = linalg::GenericOp::create(
      b, more.weights.getLoc(), TypeRange(ValueRange(starts)), inputs, starts, maps,
      more.weights.getIteratorTypesArray(), [&](OpBuilder &inside, Location loc, ValueRange arguments) {
        SmallVector<Value> yielded;
        for (auto [number, op] : llvm::enumerate(SmallVector<linalg::GenericOp>{fewer.weights, more.weights})) {
          IRMapping known;
          for (auto [place, argument] : llvm::zip(places[number], op.getBody()->getArguments()))
            known.map(argument, arguments[place]);
          known.map(op.getBody()->getArguments().back(), arguments[inputs.size() + number]);
          for (Operation &inner : op.getBody()->without_terminator())
            inside.clone(inner, known);
          yielded.push_back(known.lookupOrDefault(op.getBody()->getTerminator()->getOperand(0)));
        }
        linalg::YieldOp::create(inside, loc, yielded);
      });
  IRRewriter rewriter(b);
  DominanceInfo dominance(joined);
  eliminateCommonSubExpressions(rewriter, dominance, joined);
  return joined;
}

/// Whoever reads `first` and stands before `second` goes behind it, in the same order; false where something there
/// cannot.
bool moveReadersBehind(Operation *first, Operation *second) {
  llvm::SetVector<Operation *> late;
  late.insert(first);
  for (Operation *op = first->getNextNode(); op; op = op->getNextNode()) {
    bool reads = false;
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        reads |= late.contains(operand.getDefiningOp());
    });
    if (op == second) {
      if (reads)
        return false;
      break;
    }
    if (reads && !isMemoryEffectFree(op))
      return false;
    if (reads)
      late.insert(op);
  }
  Operation *after = second;
  for (Operation *op : late.getArrayRef().drop_front()) {
    op->moveAfter(after);
    after = op;
  }
  return true;
}

/// Makes one chain of both, where they are twins.
bool join(Chain &fewer, Chain &more) {
  if (fewer.scores.size() >= more.scores.size() || fewer.scores.size() != 1 || fewer.weights->getNumResults() != 1 ||
      more.weights->getNumResults() != 1 ||
      fewer.weights->getResult(0).getType() != more.weights->getResult(0).getType() ||
      fewer.weights->getBlock() != more.weights->getBlock())
    return false;
  const std::optional<Last> one = lastOf(fewer), other = lastOf(more);
  if (!one || !other || !isWorthIt(fewer, *one) || !isWorthIt(more, *other) ||
      knownSizeOf(fewer.output, one->columns()) != knownSizeOf(more.output, other->columns()))
    return false;
  const auto *shared =
      llvm::find_if(more.scores, [&](linalg::GenericOp each) { return areEqual(each, fewer.scores.front()); });
  if (shared == more.scores.end())
    return false;
  // At the same place of both weights, whose loops then are the same.
  auto mapOf = [](linalg::GenericOp weights, linalg::GenericOp scores) {
    for (OpOperand *operand : weights.getDpsInputOperands())
      if (operand->get() == scores->getResult(0))
        return weights.getMatchingIndexingMap(operand);
    return AffineMap();
  };
  if (mapOf(fewer.weights, fewer.scores.front()) != mapOf(more.weights, *shared) ||
      fewer.weights.getIteratorTypesArray() != more.weights.getIteratorTypesArray())
    return false;
  // Values are brought as factors of the scores, and not twice.
  auto multiplies = [](linalg::GenericOp scores, Value values) {
    return values && llvm::is_contained(scores.getDpsInputs(), values);
  };
  for (const auto &[chain, last] : {std::pair(&fewer, &*one), std::pair(&more, &*other)})
    if (llvm::none_of(more.scores,
                      [&](linalg::GenericOp each) { return multiplies(each, last->values(chain->output)); }))
      return false;
  const bool isFirst = fewer.output->isBeforeInBlock(more.output);
  Operation *early = isFirst ? fewer.output : more.output, *late = isFirst ? more.output : fewer.output;
  if (!moveReadersBehind(early, late))
    return false;
  // Everything that either reads stands before the later one, but for the weights of both, which are there next.
  early->moveBefore(late);
  OpBuilder b(early);
  linalg::GenericOp joined = joinWeights(fewer, more, fewer.scores.front(), *shared, b);
  const Attribute number = more.output->getAttr(kChainAttr);
  joined->setAttr(kChainAttr, number);
  fewer.output->setAttr(kChainAttr, number);
  fewer.weights->getResult(0).replaceAllUsesWith(joined->getResult(0));
  more.weights->getResult(0).replaceAllUsesWith(joined->getResult(1));
  for (linalg::GenericOp op : {fewer.weights, more.weights, fewer.scores.front()})
    op->erase();
  return true;
}

} // namespace

void joinTwins(func::FuncOp function) {
  for (Block &block : function.getBody()) {
    auto chains = chainsIn(block);
    llvm::SmallPtrSet<Chain *, 4> joined;
    for (auto &[fewerNumber, fewer] : chains)
      for (auto &[moreNumber, more] : chains)
        if (&fewer != &more && !joined.contains(&fewer) && !joined.contains(&more) && join(fewer, more)) {
          joined.insert(&fewer);
          joined.insert(&more);
        }
  }
}

} // namespace tenon::compiler::dispatch
