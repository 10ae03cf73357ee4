// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/triplets.h"

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/attention/chain.h"
#include "compiler/dispatch/attention/chains/same_weights.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// Whether `across` stands right behind the later product of twins then.
bool moveTo(linalg::GenericOp across, linalg::GenericOp later, IRRewriter &rewriter) {
  if (across->isBeforeInBlock(later))
    return moveBehind(across, later);
  if (failed(moveValueDefinitions(rewriter, across.getDpsInits(), later)))
    return false;
  across->moveAfter(later);
  return true;
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

} // namespace

int64_t buildChains(func::FuncOp function) {
  KeyRanges ranges;
  int64_t count = 0;
  llvm::MapVector<Value, int64_t> numbers;
  for (Block &block : function.getBody())
    for (const AttentionMatch &match : chainsOf(block)) {
      linalg::GenericOp before = match.output;
      OpOperand *weights = before.getDpsInputOperand(match.weights);
      const int64_t number = numbers.insert({weights->get(), int64_t(numbers.size())}).first->second;
      AffineMap read = before.getMatchingIndexingMap(weights);
      linalg::GenericOp output = buildChain(match, count++, ranges);
      nameWeights(output, {number, read});
    }
  return count;
}

void joinTriplets(func::FuncOp function) {
  forSameWeights(function, join);
}

} // namespace tenon::compiler::dispatch
