// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/chain.h"

#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/attention/scores.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Products that weights are computed from.
constexpr unsigned kMostProducts = 2;
// What a block holds of a row, and of a key, in shared memory and registers.
constexpr int64_t kMostDeep = 128, kMostColumns = 128;
// A tile has 64 rows or more, and as many keys; of fewer than this it would be nearly empty.
constexpr int64_t kLeastRows = 16, kLeastKeys = 16;

/// f16 or bf16, where both sides are of it and are read as they stand; else null.
Type factorOf(const Contraction &product) {
  const Type left = factorTypeOf(product.left.value), right = factorTypeOf(product.right.value);
  linalg::GenericOp op = product.op;
  const bool isPlain = llvm::all_of(op.getIndexingMapsArray(), isSimpleMap);
  return left == right && (left.isF16() || left.isBF16()) && isPlain && !product.left.border && !product.right.border
             ? left
             : Type();
}

/// Whether tensor cores compute it in one kernel. Also where scores are no more than what they are computed from: to
/// store and read them takes a kernel for each product and for each step between, and rows that may begin at no vector.
bool isWorthIt(const AttentionMatch &match, const Contraction &last, bool weightsAreLeft) {
  const Type factor = factorOf(last);
  const std::optional<int64_t> rows = knownSizeOf(last.op, weightsAreLeft ? last.rows : last.columns),
                               columns = knownSizeOf(last.op, weightsAreLeft ? last.columns : last.rows),
                               keys = knownSizeOf(last.op, last.reduced);
  if (!factor || !columns || *columns == 0 || *columns > kMostColumns || (rows && *rows < kLeastRows))
    return false;
  for (linalg::GenericOp op : match.scores) {
    const std::optional<Contraction> product = contractionOf(op);
    const std::optional<int64_t> depth = product ? knownSizeOf(op, product->reduced) : std::nullopt;
    if (!depth || *depth == 0 || *depth > kMostDeep || factorOf(*product) != factor ||
        !getElementTypeOrSelf(op->getResult(0).getType()).isF32())
      return false;
  }
  return !keys || *keys >= kLeastKeys;
}

} // namespace

std::optional<AttentionMatch> chainOf(linalg::GenericOp output) {
  const std::optional<Contraction> product = contractionOf(output);
  if (!product || product->combiner != Combiner::AddF || product->reduced.size() != 1 ||
      !getElementTypeOrSelf(output->getResult(0).getType()).isF32())
    return std::nullopt;
  for (bool isLeft : {true, false}) {
    const ContractionSide &weights = isLeft ? product->left : product->right;
    if (weights.inputs.size() != 1)
      continue;
    AttentionMatch found;
    Terms terms;
    std::string reason;
    found.output = output;
    found.keys = product->reduced.front();
    found.weights = weights.inputs.front();
    found.logits = terms.withoutCasts(terms.of(weights.value, output, loopsOf(output)));
    if (found.logits.kind == Term::Kind::Computed &&
        findScores(found, terms, *product, isLeft, kMostProducts, reason) && isWorthIt(found, *product, isLeft))
      return found;
  }
  return std::nullopt;
}

namespace {

using Chains = llvm::MapVector<Operation *, AttentionMatch>;

/// An attention that has scores of its own, whatever else reads them.
struct Apart {
  linalg::GenericOp output;
  const llvm::SmallPtrSetImpl<Operation *> &inside;

  /// Whether `op`, which reduces what is computed from the scores, is read by the attention alone.
  bool holds(Operation *op) const {
    return op == output || (inside.contains(op) &&
                            llvm::all_of(op->getUsers(), [&](Operation *user) { return inside.contains(user); }));
  }
};

/// Whether some operation stores what is computed from a product, other than last products of chains.
bool escapes(linalg::GenericOp scores, const Chains &chains, const Apart *apart) {
  llvm::SmallPtrSet<Operation *, 16> seen = {scores};
  SmallVector<Operation *> open = {scores};
  while (!open.empty())
    for (Operation *user : open.pop_back_val()->getUsers()) {
      auto chain = chains.find(user);
      if ((chain != chains.end() && llvm::is_contained(chain->second.scores, scores)) || (apart && apart->holds(user)))
        continue;
      auto reader = dyn_cast<linalg::GenericOp>(user);
      if (!reader || reader->getBlock() != scores->getBlock() || reader.getNumReductionLoops() != 0)
        return true;
      if (seen.insert(user).second)
        open.push_back(user);
    }
  return false;
}

/// Where one stores its products after all, others may read them.
void eraseStored(Chains &chains, const Apart *apart = nullptr) {
  auto isStored = [&](auto &chain) {
    return llvm::any_of(chain.second.scores, [&](linalg::GenericOp scores) { return escapes(scores, chains, apart); });
  };
  for (auto *found = llvm::find_if(chains, isStored); found != chains.end(); found = llvm::find_if(chains, isStored))
    chains.erase(found);
}

} // namespace

std::vector<AttentionMatch> chainsOf(Block &block) {
  Chains chains;
  for (auto op : block.getOps<linalg::GenericOp>())
    if (std::optional<AttentionMatch> match = chainOf(op))
      chains.insert({op, *match});
  eraseStored(chains);
  std::vector<AttentionMatch> matches;
  for (auto &[output, match] : chains)
    matches.push_back(match);
  return matches;
}

bool isReadByChains(linalg::GenericOp scores, linalg::GenericOp output,
                    const llvm::SmallPtrSetImpl<Operation *> &inside) {
  const Apart apart{output, inside};
  Chains chains;
  llvm::SmallPtrSet<Operation *, 16> seen = {scores};
  SmallVector<Operation *> open = {scores};
  while (!open.empty())
    for (Operation *user : open.pop_back_val()->getUsers()) {
      auto reader = dyn_cast<linalg::GenericOp>(user);
      if (!reader || reader->getBlock() != scores->getBlock() || !seen.insert(user).second)
        continue;
      if (reader.getNumReductionLoops() == 0)
        open.push_back(user);
      else if (std::optional<AttentionMatch> match = inside.contains(user) ? std::nullopt : chainOf(reader))
        chains.insert({user, *match});
    }
  eraseStored(chains, &apart);
  return !chains.empty() && !escapes(scores, chains, &apart);
}

} // namespace tenon::compiler::dispatch
