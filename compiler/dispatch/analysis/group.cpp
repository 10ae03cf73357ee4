// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/group.h"

#include "compiler/dispatch/analysis/computed_from.h"
#include "compiler/dispatch/analysis/tile_factors.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// The loop that a result of an indexing map is, if it is one alone.
std::optional<unsigned> loopOf(AffineExpr expr) {
  auto dim = dyn_cast<AffineDimExpr>(expr);
  return dim ? std::optional(dim.getPosition()) : std::nullopt;
}

/// The loops of two operations that run over the same part of a dimension: both read it at d + 3, and are as long.
std::optional<std::pair<unsigned, unsigned>> sameOfOneLoop(linalg::GenericOp x, AffineExpr there, linalg::GenericOp y,
                                                           AffineExpr here) {
  auto onlyLoop = [](linalg::GenericOp op, AffineExpr expr) -> std::optional<unsigned> {
    std::optional<unsigned> only;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
      if (!expr.isFunctionOfDim(loop))
        continue;
      if (only)
        return std::nullopt;
      only = loop;
    }
    return only;
  };
  std::optional<unsigned> a = onlyLoop(x, there), b = onlyLoop(y, here);
  if (!a || !b)
    return std::nullopt;
  const int64_t length = x.getStaticLoopRanges()[*a];
  const bool isSame = there.replace(getAffineDimExpr(*a, x.getContext()), getAffineDimExpr(*b, x.getContext())) == here;
  if (!isSame || ShapedType::isDynamic(length) || length != y.getStaticLoopRanges()[*b])
    return std::nullopt;
  return std::pair(*a, *b);
}

/// Whether some operations are of a chain: each of it alone is an operation like any other.
bool holdsChain(ArrayRef<linalg::GenericOp> ops) {
  return ops.size() > 1 && llvm::any_of(ops, [](linalg::GenericOp op) { return op->hasAttr(kChainAttr); });
}

/// What computes the weights of the chain.
linalg::GenericOp weightsOf(ArrayRef<linalg::GenericOp> ops) {
  for (linalg::GenericOp op : ops)
    if (op->hasAttr(kChainAttr) && op.getNumReductionLoops() == 0)
      return op;
  return {};
}

/// Ties loops of different operations into axes.
class AxisFinder {
public:
  explicit AxisFinder(ArrayRef<linalg::GenericOp> ops) {
    for (linalg::GenericOp op : ops) {
      firstLoop_[op] = axisOf_.size();
      for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
        axisOf_.push_back(axisOf_.size());
      group.ops.push_back(op);
    }
  }

  bool run(std::string &reason) {
    for (linalg::GenericOp op : group.ops)
      for (OpOperand &operand : op->getOpOperands())
        if (!tieToProducer(op, operand, reason))
          return false;
    // Operations of an attention are tied by what they compute. Its products may well read one tensor, such as keys
    // that are the values, at dimensions that have nothing to do with each other.
    if (softmaxes.empty() && !holdsChain(group.ops))
      tieReadersOfMemory();
    if (!tieTwins(reason))
      return false;
    llvm::SmallDenseMap<unsigned, unsigned> numbers;
    for (linalg::GenericOp op : group.ops) {
      SmallVector<unsigned> &axes = group.axisOf[op];
      for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
        axes.push_back(numbers.insert({axisOf(op, loop), numbers.size()}).first->second);
    }
    group.isReduced.assign(numbers.size(), false);
    return true;
  }

  Group group;
  llvm::SetVector<Operation *> softmaxes; // between operations of the group

private:
  unsigned axisOf(linalg::GenericOp op, unsigned loop) const { return axisOf_[firstLoop_.lookup(op) + loop]; }

  /// False where two loops of one operation would be one axis.
  bool join(unsigned a, unsigned b) {
    if (a == b)
      return true;
    for (linalg::GenericOp op : group.ops) {
      ArrayRef<unsigned> axes = ArrayRef(axisOf_).slice(firstLoop_.lookup(op), op.getNumLoops());
      if (llvm::is_contained(axes, a) && llvm::is_contained(axes, b))
        return false;
    }
    std::replace(axisOf_.begin(), axisOf_.end(), b, a);
    return true;
  }

  /// What an operation of the group computes is read where it is computed.
  bool tieToProducer(linalg::GenericOp op, OpOperand &operand, std::string &reason) {
    Value computed = beforeSoftmax(operand.get());
    auto producer = computed.getDefiningOp<linalg::GenericOp>();
    if (!producer || !firstLoop_.contains(producer))
      return true;
    if (computed != operand.get())
      softmaxes.insert(operand.get().getDefiningOp());
    if (op.isDpsInit(&operand)) {
      reason = "a reduction starts from it";
      return false;
    }
    AffineMap read = op.getMatchingIndexingMap(&operand);
    AffineMap written = producer.getIndexingMapMatchingResult(cast<OpResult>(computed));
    for (auto [there, here] : llvm::zip_equal(written.getResults(), read.getResults())) {
      std::optional<unsigned> produced = loopOf(there), consumed = loopOf(here);
      if (!produced || !consumed) {
        reason = "it reads what is computed elsewhere than it is computed";
        return false;
      }
      if (!join(axisOf(producer, *produced), axisOf(op, *consumed))) {
        reason = "it reads what another operation of the kernel computes at two positions at once";
        return false;
      }
    }
    return true;
  }

  /// Operations that read the same tensor read the same element of it, where nothing speaks against it: that x is in
  /// registers when x - max is computed is why softmax is one kernel.
  void tieReadersOfMemory() {
    llvm::DenseMap<Value, std::pair<linalg::GenericOp, AffineMap>> first;
    for (linalg::GenericOp op : group.ops)
      for (OpOperand *input : op.getDpsInputOperands()) {
        if (!isa<RankedTensorType>(input->get().getType()) || firstLoop_.contains(input->get().getDefiningOp()))
          continue;
        AffineMap map = op.getMatchingIndexingMap(input);
        auto [reader, isFirst] = first.insert({input->get(), {op, map}});
        if (isFirst)
          continue;
        auto [other, otherMap] = reader->second;
        for (auto [there, here] : llvm::zip_equal(otherMap.getResults(), map.getResults())) {
          if (std::optional<unsigned> a = loopOf(there), b = loopOf(here); a && b)
            join(axisOf(other, *a), axisOf(op, *b));
          else if (auto loops = sameOfOneLoop(other, there, op, here))
            join(axisOf(other, loops->first), axisOf(op, loops->second));
        }
      }
  }

  /// Last products of one chain have the same columns: what is computed from each of their results runs over all axes
  /// that are not reduced.
  bool tieTwins(std::string &reason) {
    linalg::GenericOp weights = holdsChain(group.ops) ? weightsOf(group.ops) : linalg::GenericOp();
    if (!weights || weights->getNumResults() == 1)
      return true;
    reason = "last products of one chain have the same columns";
    std::optional<std::pair<linalg::GenericOp, unsigned>> first;
    for (linalg::GenericOp op : group.ops) {
      const std::optional<Contraction> product = reads(op, weights) ? contractionOf(op) : std::nullopt;
      if (!product)
        continue;
      auto ofWeights = [&](const ContractionSide &side) {
        return side.inputs.size() == 1 && op.getDpsInputs()[side.inputs.front()].getDefiningOp() == weights;
      };
      const ArrayRef<unsigned> columns = ofWeights(product->left) ? product->columns : product->rows;
      if (columns.size() != 1)
        return false;
      if (!first) {
        first = {op, columns.front()};
        continue;
      }
      const int64_t size = op.getStaticLoopRanges()[columns.front()];
      if (ShapedType::isDynamic(size) || size != first->first.getStaticLoopRanges()[first->second] ||
          !join(axisOf(first->first, first->second), axisOf(op, columns.front())))
        return false;
    }
    reason.clear();
    return true;
  }

  static bool reads(linalg::GenericOp op, linalg::GenericOp producer) {
    return llvm::any_of(op.getDpsInputs(), [&](Value input) { return input.getDefiningOp() == producer; });
  }

  llvm::DenseMap<Operation *, unsigned> firstLoop_;
  SmallVector<unsigned> axisOf_; // [loops of all operations]
};

bool reduces(linalg::GenericOp op) {
  return op.getNumReductionLoops() != 0;
}

/// Whether it computes each element from one other, by one operation at most.
bool isCast(linalg::GenericOp producer) {
  return producer.getNumDpsInputs() == 1 && llvm::range_size(producer.getBody()->without_terminator()) <= 1;
}

/// The side of a product that its kernel computes: that of few rows which is read once, or weights of few bits in
/// tiles.
const ContractionSide *computedSideOf(const Contraction &product, const std::optional<FewRows> &few) {
  if (few)
    return few->wide;
  if (!mayTilesCompute(product))
    return nullptr;
  const bool left = isOfFewBits(product, product.left), right = isOfFewBits(product, product.right);
  return left == right ? nullptr : left ? &product.left : &product.right;
}

/// Whether `op` computes a factor of a product whose kernel reads that side once, at every place of it, or computes it
/// in its tiles. What the other side is computed from would be computed by every block: a cast may be, of few rows.
bool isFactor(linalg::GenericOp op, linalg::GenericOp product, const Group &group) {
  const std::optional<Contraction> form = contractionOf(product);
  const std::optional<FewRows> few = fewRowsOf(*form);
  const ContractionSide *computed = computedSideOf(*form, few);
  if (!computed || (!few && !isWeightOfFewBits(op)) || op->getNumResults() != 1 ||
      isReadOutside(op->getResult(0), group) || group.knowsReduction(op->getResult(0)))
    return false;
  // It, or what computes from it, is a factor.
  for (OpOperand &use : op->getUses()) {
    auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!reader || !group.contains(reader))
      return false;
    const bool isWide = reader == product ? llvm::is_contained(computed->inputs, use.getOperandNumber())
                                          : isFactor(reader, product, group);
    if (!isWide && !(few && reader == product && !product.isDpsInit(&use) && isCast(op)))
      return false;
  }
  return true;
}

/// Whether a reduction that reads elements several times over, or in order, may have company: what is done with each
/// element of its result, and what a factor of a contraction is computed from.
bool mayShareKernel(linalg::GenericOp reduction, const Group &group, std::string &reason) {
  if (!reductionBodyOf(reduction)) {
    reason = "a reduction combines its elements in a way that only one thread in order can";
    return false;
  }
  const bool isProduct = !isWindow(reduction);
  const std::string what = isProduct ? "a contraction" : "a window";
  for (linalg::GenericOp op : group.ops) {
    if (op == reduction)
      continue;
    if (reduces(op)) {
      reason = what + " shares its kernel with no other reduction";
      return false;
    }
    if (!group.isPerRow(op) && !(isProduct && isFactor(op, reduction, group))) {
      reason = what + " shares its kernel only with what is computed from each element of its result";
      return false;
    }
  }
  return true;
}

/// A body that reads a tensor by itself reads it anywhere: it must be stored before.
bool readsAnywhere(const Group &group, std::string &reason) {
  for (linalg::GenericOp op : group.ops)
    for (Operation *user : op->getUsers())
      if (!isa<linalg::GenericOp>(user))
        for (Operation *parent = user->getParentOp(); parent; parent = parent->getParentOp())
          if (group.contains(parent)) {
            reason = "its body reads any element of the result";
            return true;
          }
  return false;
}

/// The axes that some loops of an operation are.
llvm::SmallSetVector<unsigned, 8> axesOf(const Group &group, linalg::GenericOp op, ArrayRef<unsigned> loops) {
  llvm::SmallSetVector<unsigned, 8> axes;
  for (unsigned loop : loops)
    axes.insert(group.axisOf.lookup(op)[loop]);
  return axes;
}

bool areSame(const llvm::SmallSetVector<unsigned, 8> &x, const llvm::SmallSetVector<unsigned, 8> &y) {
  return x.size() == y.size() && llvm::all_of(x, [&](unsigned axis) { return y.contains(axis); });
}

/// Whether two last products of a chain have the same rows, keys and batch, and nothing reads the results of both.
bool areTwins(const Group &group, ArrayRef<linalg::GenericOp> outputs, ArrayRef<Value> weights) {
  struct Form {
    llvm::SmallSetVector<unsigned, 8> batch, rows, keys;
  };
  std::optional<Form> first;
  for (auto [output, read] : llvm::zip_equal(outputs, weights)) {
    const std::optional<Contraction> product = contractionOf(output);
    if (!product)
      return false;
    const bool isLeft = linalg::GenericOp(output).getDpsInputs()[product->left.inputs.front()] == read;
    const Form form{axesOf(group, output, product->batch),
                    axesOf(group, output, isLeft ? product->rows : product->columns),
                    axesOf(group, output, product->reduced)};
    if (!first)
      first = form;
    else if (!areSame(first->batch, form.batch) || !areSame(first->rows, form.rows) || !areSame(first->keys, form.keys))
      return false;
  }
  return llvm::none_of(group.ops, [&](linalg::GenericOp op) {
    return llvm::all_of(outputs, [&](linalg::GenericOp output) {
      return isComputedFrom(op, output, [&](Operation *each) { return group.contains(each); });
    });
  });
}

/// Whether the group, which holds a linalg.softmax, is an attention, or, which holds `chained`, a chain; sets which of
/// its axes are reduced.
bool completesAttention(Group &group, std::string &reason) {
  const SmallVector<Value, 2> all = group.chained ? llvm::to_vector<2>(ValueRange(group.chained->getResults()))
                                                  : SmallVector<Value, 2>{group.softmax->getResult(0)};
  Value weights = all.front();
  SmallVector<linalg::GenericOp, 2> scores;
  SmallVector<linalg::GenericOp, 2> outputs(all.size()); // that read each of the weights
  for (linalg::GenericOp op : group.ops) {
    if (!reduces(op) || op == group.logSum)
      continue;
    const auto *read = llvm::find_if(all, [&](Value each) { return llvm::is_contained(op.getDpsInputs(), each); });
    linalg::GenericOp *output = read == all.end() ? nullptr : &outputs[read - all.begin()];
    if (output ? bool(*output) : scores.size() == (group.chained ? 2 : 1)) {
      reason = "an attention shares its kernel with no other reduction";
      return false;
    }
    if (output)
      *output = op;
    else
      scores.push_back(op);
  }
  linalg::GenericOp output = outputs.front();
  const std::optional<Contraction> second = output ? contractionOf(output) : std::nullopt;
  reason = group.chained ? "what is computed from a product for another one has a kernel only together with both"
                         : "a softmax between two products has a kernel only together with both";
  if (scores.empty() || !second || second->reduced.size() != 1 ||
      !llvm::all_of(outputs, [](auto op) { return bool(op); }))
    return false;
  const unsigned keys = group.axisOf.lookup(output)[second->reduced.front()];
  if (group.softmax && group.axisOf.lookup(group.softmax)[group.softmax.getDimension()] != keys)
    return false;
  const bool weightsAreLeft = weights == output.getDpsInputs()[second->left.inputs.front()];
  const auto batch = axesOf(group, output, second->batch),
             rows = axesOf(group, output, weightsAreLeft ? second->rows : second->columns);
  llvm::SmallSetVector<unsigned, 8> onlyKeys, summed;
  onlyKeys.insert(keys);
  for (linalg::GenericOp op : scores) {
    const std::optional<Contraction> first = contractionOf(op);
    if (!first)
      return false;
    // One side may be the same for all of a dimension of the batch.
    auto ofBatch = axesOf(group, op, first->batch);
    auto sideOf = [&](ArrayRef<unsigned> loops) {
      llvm::SmallSetVector<unsigned, 8> side;
      for (unsigned axis : axesOf(group, op, loops))
        (batch.contains(axis) ? ofBatch : side).insert(axis);
      return side;
    };
    const auto left = sideOf(first->rows), right = sideOf(first->columns);
    auto isSide = [&](const auto &queries, const auto &others) {
      return areSame(queries, rows) && areSame(others, onlyKeys);
    };
    if (!areSame(ofBatch, batch) || (!isSide(left, right) && !isSide(right, left)))
      return false;
    summed.insert_range(axesOf(group, op, first->reduced));
  }
  if (outputs.size() > 1 && !areTwins(group, outputs, all))
    return false;
  for (unsigned axis : axesOf(group, output, weightsAreLeft ? second->columns : second->rows))
    if (summed.contains(axis)) {
      reason = "what one product of an attention sums over are the columns of the other";
      return false;
    }
  group.isReduced[keys] = true;
  for (unsigned axis : summed)
    group.isReduced[axis] = true;
  if (group.logSum && group.logSum.getDpsInputs()[0] != group.softmax.getInput()) {
    reason = "a logarithm of other sums than those of its softmax has a kernel of its own";
    return false;
  }

  // Of keys, values or queries, for one of the products alone: what is of both, such as keys that are the values, would
  // tie the dimension that one sums over to the columns of the other.
  auto isOnlyFactor = [&](linalg::GenericOp op) {
    auto isOnlyOf = [&](linalg::GenericOp product) {
      return llvm::all_of(op->getUsers(), [&](Operation *user) { return user == product.getOperation(); });
    };
    return !reduces(op) && !op->use_empty() && (llvm::any_of(scores, isOnlyOf) || llvm::any_of(outputs, isOnlyOf));
  };
  // Of each logit, in front of the softmax; of each result, behind it.
  Value logits = group.chained ? weights : group.softmax.getInput();
  for (linalg::GenericOp op : group.ops) {
    if (reduces(op) || isOnlyFactor(op))
      continue;
    if (group.isPerRow(op)) // all axes of the results
      continue;
    const auto loops = group.axisOf.lookup(op);
    const bool isOfLogits =
        llvm::all_of(loops, [&](unsigned axis) { return axis == keys || batch.contains(axis) || rows.contains(axis); });
    const bool isStored = llvm::any_of(op->getResults(), [&](Value value) { return isReadOutside(value, group); });
    if (!isOfLogits || isStored || loops.size() != batch.size() + rows.size() + 1 || op->getResult(0) != logits) {
      reason = "an attention shares its kernel only with what is computed for its products, or from each of its scores "
               "or results";
      return false;
    }
  }
  SmallVector<Value, 4> kept = {logits};
  llvm::append_range(kept, all);
  if (group.softmax)
    kept.truncate(1); // its result has readers that are no linalg.generic of a group
  for (linalg::GenericOp op : scores)
    kept.push_back(op->getResult(0));
  if (llvm::any_of(kept, [&](Value value) { return isReadOutside(value, group); })) {
    reason = "its scores are read by another kernel";
    return false;
  }
  reason.clear();
  return true;
}

} // namespace

Value beforeSoftmax(Value value) {
  auto softmax = value.getDefiningOp<linalg::SoftmaxOp>();
  return softmax ? softmax.getInput() : value;
}

bool isOfAttention(linalg::GenericOp op) {
  auto isSoftmax = [](Operation *other) { return isa_and_nonnull<linalg::SoftmaxOp>(other); };
  if (op.getNumReductionLoops() == 0)
    return false;
  if (op->hasAttr(kChainAttr) || op->hasAttr(kLogSumExp))
    return true;
  if (llvm::any_of(op.getDpsInputs(), [&](Value input) { return isSoftmax(input.getDefiningOp()); }))
    return true;
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    return isSoftmax(user) || (isa<linalg::GenericOp>(user) && llvm::any_of(user->getUsers(), isSoftmax));
  });
}

SmallVector<bool> Group::axesOf(linalg::GenericOp op) const {
  SmallVector<bool> axes(numAxes());
  for (unsigned axis : axisOf.lookup(op))
    axes[axis] = true;
  return axes;
}

bool Group::coversAllAxes(linalg::GenericOp op) const {
  return axisOf.lookup(op).size() == numAxes();
}

bool Group::isPerRow(linalg::GenericOp op) const {
  if (reduces(op))
    return op != logSum;
  SmallVector<bool> axes = axesOf(op);
  bool differs = false;
  for (auto [has, reduced] : llvm::zip_equal(axes, isReduced))
    differs |= has == reduced;
  return hasReduction() && !differs;
}

bool Group::knowsReduction(Value value) const {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || !contains(op))
    return false;
  return reduces(op) || llvm::any_of(op->getOperands(), [&](Value operand) { return knowsReduction(operand); });
}

bool isReadOutside(Value value, const Group &group) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    while (user && user->getBlock() != value.getParentBlock())
      user = user->getParentOp(); // a body that reads the tensor by itself
    return !user || !group.contains(user);
  });
}

std::optional<Group> groupOf(ArrayRef<linalg::GenericOp> ops, std::string &reason) {
  AxisFinder finder(ops);
  if (!finder.run(reason))
    return std::nullopt;
  Group &group = finder.group;
  if (finder.softmaxes.size() > 1) {
    reason = "it holds two softmaxes";
    return std::nullopt;
  }
  if (!finder.softmaxes.empty()) {
    group.softmax = cast<linalg::SoftmaxOp>(finder.softmaxes.front());
    auto logits = group.softmax.getInput().getDefiningOp<linalg::GenericOp>();
    SmallVector<unsigned> axes; // of the softmax's dimensions
    for (AffineExpr expr : logits.getIndexingMapMatchingResult(cast<OpResult>(group.softmax.getInput())).getResults())
      axes.push_back(group.axisOf.lookup(logits)[cast<AffineDimExpr>(expr).getPosition()]);
    group.axisOf[group.softmax] = axes;
    for (linalg::GenericOp op : ops) {
      if (!op->hasAttr(kLogSumExp))
        continue;
      if (group.logSum) {
        reason = "it holds two logarithms of sums";
        return std::nullopt;
      }
      group.logSum = op;
    }
    if (!completesAttention(group, reason) || readsAnywhere(group, reason))
      return std::nullopt;
    return std::move(group);
  }
  if (holdsChain(ops)) {
    group.chained = weightsOf(ops);
    if (!group.chained) {
      reason = "what is computed from a product for another one has a kernel only together with both";
      return std::nullopt;
    }
    if (!completesAttention(group, reason) || readsAnywhere(group, reason))
      return std::nullopt;
    return std::move(group);
  }
  const linalg::GenericOp *first = llvm::find_if(group.ops, reduces);
  auto reducedBy = [&](linalg::GenericOp op) {
    SmallVector<bool> axes(group.numAxes());
    for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
      axes[group.axisOf[op][loop]] = type == utils::IteratorType::reduction;
    return axes;
  };
  if (first != group.ops.end())
    group.isReduced = reducedBy(*first);
  for (linalg::GenericOp op : group.ops) {
    if (reduces(op)) {
      if (group.ops.size() > 1 && !isTreeReduction(op) && !mayShareKernel(op, group, reason))
        return std::nullopt;
      if (!group.coversAllAxes(op) || reducedBy(op) != group.isReduced) {
        reason = "it reduces other dimensions";
        return std::nullopt;
      }
    }
    const bool isStored = llvm::any_of(op->getResults(), [&](Value value) { return isReadOutside(value, group); });
    if (isStored && !group.coversAllAxes(op) && !group.isPerRow(op)) {
      reason = "its result has other dimensions";
      return std::nullopt;
    }
    // Nobody computes a reduction again for each element that reads it.
    if (!reduces(op) && !group.isPerRow(op) && !group.coversAllAxes(op) && group.knowsReduction(op->getResult(0))) {
      reason = "it runs over a part of the reduced dimensions";
      return std::nullopt;
    }
  }
  if (readsAnywhere(group, reason))
    return std::nullopt;
  return std::move(group);
}

} // namespace tenon::compiler::dispatch
