// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/groups/attention_group.h"

#include "compiler/dispatch/analysis/computed_from.h"
#include "compiler/dispatch/analysis/products/contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

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

/// Whether a product that reads the second weights of twins sums over their rows, and nothing else does of the group.
bool isAcross(const Group &group, linalg::GenericOp across, linalg::GenericOp output, Value weights) {
  const std::optional<Contraction> product = contractionOf(across), other = contractionOf(output);
  if (!product || !other || product->left.inputs.size() != 1 || product->right.inputs.size() != 1)
    return false;
  auto isLeft = [&](linalg::GenericOp op, const Contraction &of) {
    return op.getDpsInputs()[of.left.inputs.front()] == weights;
  };
  const bool hereLeft = isLeft(across, *product), thereLeft = isLeft(output, *other);
  auto kept = axesOf(group, across, product->batch), wanted = axesOf(group, output, other->batch);
  kept.insert_range(axesOf(group, across, hereLeft ? product->rows : product->columns));
  wanted.insert_range(axesOf(group, output, other->reduced));
  return areSame(kept, wanted) &&
         areSame(axesOf(group, across, product->reduced),
                 axesOf(group, output, thereLeft ? other->rows : other->columns)) &&
         areSame(axesOf(group, across, hereLeft ? product->columns : product->rows),
                 axesOf(group, output, thereLeft ? other->columns : other->rows)) &&
         llvm::none_of(across->getUsers(), [&](Operation *user) { return group.contains(user); });
}

/// Whether it only rounds the weights, so that another product may read them.
bool isKept(linalg::GenericOp op, Value weights) {
  return op->hasAttr(kAcrossAttr) && !reduces(op) && op.getDpsInputs().size() == 1 &&
         op.getDpsInputs().front() == weights &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }) &&
         isa_and_nonnull<arith::TruncFOp>(op.getBody()->getTerminator()->getOperand(0).getDefiningOp());
}

// Blocks of values are brought in by tiles, each for so many rows at once; fewer rows read what they need themselves.
constexpr int64_t kMostFewRows = 16;

/// Whether it computes nothing: each element is that of a tensor at a place that the element's own place says.
bool movesByPlace(linalg::GenericOp op) {
  auto read = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<tensor::ExtractOp>();
  return read && op.getNumDpsInputs() == 0 && op->getNumResults() == 1 &&
         llvm::hasSingleElement(op.getBody()->getOps<tensor::ExtractOp>());
}

/// Whether so many rows share a block of values, or may.
bool hasManyRows(linalg::GenericOp output, ArrayRef<unsigned> rows) {
  const SmallVector<int64_t> sizes = output.getStaticLoopRanges();
  int64_t count = 1;
  for (unsigned loop : rows) {
    if (ShapedType::isDynamic(sizes[loop]))
      return true;
    count *= sizes[loop];
  }
  return count > kMostFewRows;
}

} // namespace

bool completesAttention(Group &group, std::string &reason) {
  const SmallVector<Value, 2> all = group.chained ? llvm::to_vector<2>(ValueRange(group.chained->getResults()))
                                                  : SmallVector<Value, 2>{group.softmax->getResult(0)};
  Value weights = all.front();
  SmallVector<linalg::GenericOp, 2> scores;
  SmallVector<linalg::GenericOp, 2> outputs(all.size()); // that read each of the weights
  for (linalg::GenericOp op : group.ops) {
    if (isKept(op, all.back()) && !group.across && all.size() == 2)
      group.across = op;
    if (!reduces(op) || op == group.logSum)
      continue;
    if (op->hasAttr(kAcrossAttr) && !group.across && all.size() == 2 &&
        llvm::is_contained(op.getDpsInputs(), all.back())) {
      group.across = op;
      continue;
    }
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
  // Twins may have keys of several heads.
  if (scores.empty() || !second || second->reduced.size() > all.size() || second->reduced.empty() ||
      !llvm::all_of(outputs, [](auto op) { return bool(op); }))
    return false;
  const auto keys = axesOf(group, output, second->reduced);
  if (group.softmax && group.axisOf.lookup(group.softmax)[group.softmax.getDimension()] != keys.front())
    return false;
  const bool weightsAreLeft = weights == output.getDpsInputs()[second->left.inputs.front()];
  const auto batch = axesOf(group, output, second->batch),
             rows = axesOf(group, output, weightsAreLeft ? second->rows : second->columns);
  llvm::SmallSetVector<unsigned, 8> summed;
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
      return areSame(queries, rows) && areSame(others, keys);
    };
    if (!areSame(ofBatch, batch) || (!isSide(left, right) && !isSide(right, left)))
      return false;
    summed.insert_range(axesOf(group, op, first->reduced));
  }
  if (outputs.size() > 1 && !areTwins(group, outputs, all))
    return false;
  if (group.across && reduces(group.across) && !isAcross(group, group.across, outputs.back(), all.back()))
    return false;
  for (unsigned axis : axesOf(group, output, weightsAreLeft ? second->columns : second->rows))
    if (summed.contains(axis)) {
      reason = "what one product of an attention sums over are the columns of the other";
      return false;
    }
  for (ArrayRef<unsigned> axes : {keys.getArrayRef(), summed.getArrayRef()})
    for (unsigned axis : axes)
      group.isReduced[axis] = true;
  // A tile of its results is stored once.
  const SmallVector<unsigned> ofResult = group.axisOf.lookup(output);
  for (unsigned axis = 0; axis < group.numAxes(); ++axis)
    if (!group.isReduced[axis] && !llvm::is_contained(ofResult, axis)) {
      reason = "what repeats the result of an attention has a kernel of its own";
      return false;
    }
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
    return !reduces(op) && !op->hasAttr(kStoredAttr) && !op->use_empty() &&
           (llvm::any_of(scores, isOnlyOf) || llvm::any_of(outputs, isOnlyOf));
  };
  // No tile of values is brought in from places that are computed.
  if (hasManyRows(output, weightsAreLeft ? second->rows : second->columns) &&
      llvm::any_of(group.ops, [&](linalg::GenericOp op) { return isOnlyFactor(op) && movesByPlace(op); })) {
    reason = "values that are only moved are stored for an attention of many queries";
    return false;
  }
  // Of each logit, in front of the softmax; of each result, behind it.
  Value logits = group.chained ? weights : group.softmax.getInput();
  for (linalg::GenericOp op : group.ops) {
    if (reduces(op) || op == group.across || isOnlyFactor(op))
      continue;
    if (group.isPerRow(op)) // all axes of the results
      continue;
    const auto loops = group.axisOf.lookup(op);
    const bool isOfLogits = llvm::all_of(
        loops, [&](unsigned axis) { return keys.contains(axis) || batch.contains(axis) || rows.contains(axis); });
    const bool isStored = llvm::any_of(op->getResults(), [&](Value value) { return isReadOutside(value, group); });
    if (!isOfLogits || isStored || loops.size() != batch.size() + rows.size() + keys.size() ||
        op->getResult(0) != logits) {
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

} // namespace tenon::compiler::dispatch
