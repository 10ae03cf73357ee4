// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/forming/form_groups.h"

#include "compiler/dispatch/analysis/groups/axis_finder.h"
#include "compiler/dispatch/analysis/groups/form_group.h"
#include "compiler/dispatch/analysis/groups/gates.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/own_kernel.h"
#include "compiler/dispatch/analysis/parts_put_together.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/analysis/reduction_body.h"
#include "compiler/dispatch/forming/beside.h"
#include "compiler/dispatch/forming/column_groups.h"
#include "compiler/dispatch/forming/members.h"
#include "compiler/dispatch/forming/summed_order.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <limits>

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// More only costs registers and compile time; parameters of a kernel end at 4 KiB.
constexpr size_t kMaxOps = 48;
constexpr size_t kMaxTensors = 32;
// Reductions of the same tensor that are tried: hundreds of products may share a matrix.
constexpr unsigned kMaxSiblings = 8;
// Kinds of small groups that are looked for in a block, and how often two groups are tried: whether one may run behind
// the other is asked of all between.
constexpr size_t kMostKinds = 32;
// Operations between two that become one because of what they read: the memory of results is needed for longer.
constexpr unsigned kMostApart = 64;
constexpr unsigned kMostTries = 256;

void collectTensors(linalg::GenericOp op, const llvm::SmallPtrSetImpl<Operation *> &inside,
                    llvm::SmallPtrSetImpl<void *> &tensors) {
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && !inside.contains(operand.getDefiningOp()) &&
        !isa_and_nonnull<tensor::EmptyOp, linalg::FillOp>(operand.getDefiningOp()))
      tensors.insert(operand.getAsOpaquePointer());
  for (Value result : op->getResults())
    tensors.insert(result.getAsOpaquePointer());
}

/// Whether what is stored for each element lies along the axis, or is near to what does.
bool storesAlong(const Group &group, unsigned axis) {
  for (linalg::GenericOp op : group.ops)
    for (OpResult result : op->getResults()) {
      const AffineMap map = op.getIndexingMapMatchingResult(result);
      if (!group.coversAllAxes(op) || !map.isPermutation() || map.getNumResults() == 0 || !isReadOutside(result, group))
        continue;
      const SmallVector<unsigned> axes = group.axisOf.lookup(op);
      const auto *from = llvm::find(axes, axis);
      if (from != axes.end() && turnsFar(op, from - axes.begin(), map.getDimPosition(map.getNumResults() - 1)))
        return false;
    }
  return true;
}

/// Whether what is stored for each element lies as what is read by place, and, where something is reduced, as what is
/// read at all: kernels that turn what they read reduce nothing.
bool keepsOrder(const Group &group, std::string &reason) {
  std::optional<unsigned> along = group.hasReduction() ? innerAxisOf(group) : std::nullopt;
  for (linalg::GenericOp op : group.ops)
    if (const std::optional<unsigned> loop = loopOfPlaces(op); loop && group.coversAllAxes(op))
      along = group.axisOf.lookup(op)[*loop];
  if (!along || storesAlong(group, *along))
    return true;
  reason = "what is stored is adjacent along another dimension than what is read";
  return false;
}

class Former {
public:
  explicit Former(Block &block) : block_(block) {
    for (auto [position, op] : llvm::enumerate(block))
      position_[&op] = position;
  }

  GroupedBlock run();

private:
  using Number = unsigned;

  Number numberOf(linalg::GenericOp op) const { return number_.lookup(op); }
  bool join(ArrayRef<Number> numbers, std::string &reason);
  bool hasForeignBetween(const Members &members, std::string &reason) const;
  void joinProducers(linalg::GenericOp op);
  void joinSiblings(linalg::GenericOp op);
  Members siblingsOf(linalg::GenericOp op, OpOperand &input) const;
  void joinChain(linalg::GenericOp op);
  void joinLogSum(linalg::GenericOp op);
  void joinGates(linalg::GenericOp op);
  void joinReaders();
  SmallVector<Number> othersThatRead(const Members &members, Number number) const;
  void joinBeside();

  Block &block_;
  llvm::DenseMap<Operation *, unsigned> position_;
  llvm::DenseMap<Operation *, Number> number_;
  SmallVector<Members> groups_;
  SmallVector<Boundary> boundaries_;
  bool areFormed_ = false; // each operation has a group
};

/// Whether something else must run between two members: it reads what one computes, and another reads what it computes.
/// Another group runs as a whole. While groups are formed, the last member is the last operation that has one, so
/// nothing behind it leads back; afterwards groups may begin before it and end behind it.
bool Former::hasForeignBetween(const Members &members, std::string &reason) const {
  llvm::SmallPtrSet<Operation *, 16> inside(llvm::from_range, members);
  addSoftmaxes(inside, members);
  llvm::SmallPtrSet<Operation *, 32> seen;
  SmallVector<Operation *> readers;
  const unsigned last = position_.lookup(members.back()),
                 farthest = areFormed_ ? std::numeric_limits<unsigned>::max() : last;
  auto addReadersOf = [&](Operation *op) {
    for (Operation *user : op->getUsers())
      if (Operation *top = block_.findAncestorOpInBlock(*user);
          top && position_.lookup(top) <= farthest && seen.insert(top).second)
        readers.push_back(top);
  };
  for (linalg::GenericOp op : members)
    for (Operation *user : op->getUsers()) {
      Operation *top = block_.findAncestorOpInBlock(*user);
      if (!top || position_.lookup(top) > farthest)
        continue;
      if (!inside.contains(top) && seen.insert(top).second)
        readers.push_back(top);
      if (inside.contains(top) && top != user) {
        reason = "its body reads any element of it";
        return true;
      }
    }
  while (!readers.empty()) {
    Operation *op = readers.pop_back_val();
    if (inside.contains(op) || (position_.lookup(op) < last && !isMemoryEffectFree(op))) {
      reason = "another operation stands between them";
      return true;
    }
    addReadersOf(op);
    if (auto found = number_.find(op); found != number_.end())
      for (linalg::GenericOp other : groups_[found->second])
        if (seen.insert(other).second)
          readers.push_back(other);
  }
  return false;
}

/// Into the first of them.
bool Former::join(ArrayRef<Number> numbers, std::string &reason) {
  Members members;
  for (Number number : numbers)
    llvm::append_range(members, groups_[number]);
  llvm::sort(members, [&](Operation *a, Operation *b) { return position_.lookup(a) < position_.lookup(b); });
  llvm::SmallPtrSet<Operation *, 16> inside(llvm::from_range, members);
  llvm::SmallPtrSet<void *, 32> tensors;
  for (linalg::GenericOp op : members)
    collectTensors(op, inside, tensors);
  if (members.size() > kMaxOps || tensors.size() > kMaxTensors) {
    reason = "one kernel would hold too much";
    return false;
  }
  if (llvm::any_of(members,
                   [&](Operation *op) { return op->getAttr(kFormAttr) != members.front()->getAttr(kFormAttr); })) {
    reason = "the program decides which of them run";
    return false;
  }
  if (hasForeignBetween(members, reason))
    return false;
  std::optional<Group> group = groupOf(members, reason);
  if (!group || !storesAsSummed(*group, reason) || (!group->hasWeights() && !keepsOrder(*group, reason)) ||
      (!group->hasWeights() && group->hasReduction() && runsAcrossRows(*group) && !takesOneStep(*group, reason)))
    return false;
  for (Number number : numbers)
    groups_[number].clear();
  for (linalg::GenericOp op : members)
    number_[op] = numbers.front();
  groups_[numbers.front()] = std::move(members);
  return true;
}

void Former::joinProducers(linalg::GenericOp op) {
  for (Value operand : op->getOperands()) {
    auto producer = beforeSoftmax(operand).getDefiningOp<linalg::GenericOp>();
    if (!producer || producer->getBlock() != &block_ || numberOf(producer) == numberOf(op))
      continue;
    if (op->hasAttr(kChainAttr) && producer->hasAttr(kStoredAttr)) // of rows: not for each weight anew
      continue;
    if (producer->hasAttr(kOwnKernelAttr)) {
      boundaries_.push_back({producer, op, "a kernel of its own makes the copy"});
      continue;
    }
    std::string reason;
    if (!join({numberOf(producer), numberOf(op)}, reason))
      boundaries_.push_back({producer, op, reason});
  }
}

/// Reductions of the same tensor read it once.
void Former::joinSiblings(linalg::GenericOp op) {
  unsigned tries = 0;
  if (op.getNumReductionLoops() == 0 || !reductionBodyOf(op))
    return;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!isa<RankedTensorType>(input->get().getType()))
      continue;
    for (linalg::GenericOp other : siblingsOf(op, *input)) {
      if (numberOf(other) == numberOf(op))
        continue;
      if (++tries > kMaxSiblings)
        return;
      std::string reason;
      join({std::min(numberOf(other), numberOf(op)), std::max(numberOf(other), numberOf(op))}, reason);
    }
  }
}

/// Other reductions that read the tensor as the operation does, the nearest first: whether two that are far from each
/// other can be one takes long to find out.
Members Former::siblingsOf(linalg::GenericOp op, OpOperand &input) const {
  Members siblings;
  for (OpOperand &use : input.get().getUses()) {
    auto other = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (other && other != op && number_.contains(other) && other.getNumReductionLoops() != 0 &&
        other.getMatchingIndexingMap(&use) == op.getMatchingIndexingMap(&input) &&
        other.getIteratorTypesArray() == op.getIteratorTypesArray())
      siblings.push_back(other);
  }
  llvm::sort(siblings, [&](Operation *a, Operation *b) { return position_.lookup(a) > position_.lookup(b); });
  return siblings;
}

/// The last product of a chain brings all of it: no part of it is a group.
void Former::joinChain(linalg::GenericOp op) {
  Attribute chain = op->getAttr(kChainAttr);
  if (!chain || op.getNumReductionLoops() == 0)
    return;
  SmallVector<Number> numbers;
  for (auto other : block_.getOps<linalg::GenericOp>())
    if (other->getAttr(kChainAttr) == chain && number_.contains(other) && !llvm::is_contained(numbers, numberOf(other)))
      numbers.push_back(numberOf(other));
  std::string reason;
  if (numbers.size() > 1)
    join(numbers, reason); // not yet, as long as products are missing
}

/// The logarithm of the sum of an attention's exponentials brings both products, neither of which has a kernel with
/// what it reads without it.
void Former::joinLogSum(linalg::GenericOp op) {
  if (!op->hasAttr(kLogSumExp))
    return;
  SmallVector<Number> numbers;
  auto add = [&](Operation *other) {
    auto generic = dyn_cast_or_null<linalg::GenericOp>(other);
    if (generic && number_.contains(generic) && !llvm::is_contained(numbers, numberOf(generic)))
      numbers.push_back(numberOf(generic));
  };
  auto logits = op.getDpsInputs()[0].getDefiningOp<linalg::GenericOp>();
  if (!logits)
    return;
  add(logits);
  for (Value input : logits.getDpsInputs())
    if (auto scores = input.getDefiningOp<linalg::GenericOp>(); scores && scores.getNumReductionLoops() != 0)
      add(scores);
  for (Operation *reader : logits->getUsers())
    if (isa<linalg::SoftmaxOp>(reader))
      for (Operation *output : reader->getUsers())
        add(output);
  add(op);
  std::string reason;
  if (numbers.size() > 1 && !join(numbers, reason))
    boundaries_.push_back({logits, op, reason});
}

/// Gates are never stored where others read them by their numbers: all of these come at once, with the last of them.
void Former::joinGates(linalg::GenericOp op) {
  for (Value operand : op.getDpsInputs()) {
    auto last = operand.getDefiningOp<linalg::GenericOp>();
    if (!last || last->getBlock() != &block_ || numberOf(last) == numberOf(op) ||
        llvm::none_of(groups_[numberOf(last)], [](linalg::GenericOp each) { return each->hasAttr(kGatesAttr); }))
      continue;
    SmallVector<Number> numbers = {numberOf(last)};
    const bool areAllThere = llvm::all_of(last->getUsers(), [&](Operation *user) {
      auto reader = dyn_cast<linalg::GenericOp>(user);
      if (!reader || !number_.contains(reader))
        return false;
      if (!llvm::is_contained(numbers, numberOf(reader)))
        numbers.push_back(numberOf(reader));
      return true;
    });
    std::string reason;
    if (areAllThere && !join(numbers, reason))
      boundaries_.push_back({last, op, reason});
  }
}

/// Groups that compute element by element of the same tensors read them once: both gradients of a gate.
void Former::joinReaders() {
  unsigned tries = 0;
  for (Number number = 0; number < groups_.size(); ++number) {
    if (groups_[number].empty() || !isElementByElement(groups_[number]))
      continue;
    for (Number other : othersThatRead(groups_[number], number)) {
      if (++tries > kMostTries)
        return;
      if (std::string reason; isElementByElement(groups_[other]) && isWorthReading(groups_[other], groups_[number]))
        if (join({other, number}, reason))
          break;
    }
  }
}

/// Groups ahead that read what these operations read, as far as they are near.
SmallVector<Former::Number> Former::othersThatRead(const Members &members, Number number) const {
  SmallVector<Number> others;
  for (linalg::GenericOp op : members)
    for (Value input : op.getDpsInputs())
      for (Operation *user : input.getUsers()) {
        auto found = number_.find(user);
        if (isa<RankedTensorType>(input.getType()) && found != number_.end() && found->second < number &&
            !llvm::is_contained(others, found->second) && position_.lookup(op) - position_.lookup(user) <= kMostApart)
          others.push_back(found->second);
      }
  llvm::sort(others, std::greater<>());
  return others;
}

/// Small groups that have nothing to do with each other, and run alike, become one: the roots of the variances of many
/// layers, steps of an optimiser, sums of parts.
void Former::joinBeside() {
  SmallVector<std::pair<linalg::GenericOp, Number>> open; // the newest of each kind
  unsigned tries = 0;
  for (Number number = 0; number < groups_.size(); ++number) {
    linalg::GenericOp leader = groups_[number].empty() ? linalg::GenericOp() : smallLeaderOf(groups_[number]);
    if (!leader)
      continue;
    auto *found = llvm::find_if(open, [&](const auto &each) { return runAlike(each.first, leader); });
    if (found == open.end()) {
      if (open.size() < kMostKinds)
        open.push_back({leader, number});
      continue;
    }
    if (++tries > kMostTries)
      return;
    std::string reason;
    if (!join({found->second, number}, reason))
      *found = {leader, number};
  }
}

GroupedBlock Former::run() {
  for (auto op : block_.getOps<linalg::GenericOp>()) {
    number_[op] = groups_.size();
    groups_.push_back({op});
    joinProducers(op);
    joinSiblings(op);
    joinChain(op);
    joinLogSum(op);
    joinGates(op);
  }
  areFormed_ = true;
  joinReaders();
  joinBeside();
  llvm::erase_if(groups_, [](const Members &members) { return members.empty(); });
  // One group's readers may be another's members, so that it ends later than before.
  for (bool changed = true; changed;) {
    changed = false;
    for (Members &members : groups_)
      changed |= moveReadersBehind(members);
  }
  GroupedBlock result;
  for (Members &members : groups_)
    sortByPosition(members);
  llvm::sort(groups_, [](const Members &a, const Members &b) {
    return linalg::GenericOp(a.back())->isBeforeInBlock(linalg::GenericOp(b.back()));
  });
  llvm::DenseMap<Operation *, size_t> groupOfOp;
  for (auto [index, members] : llvm::enumerate(groups_)) {
    std::string reason;
    result.groups.push_back(*groupOf(members, reason));
    for (linalg::GenericOp op : members)
      groupOfOp[op] = index;
  }
  for (Boundary &boundary : boundaries_)
    if (groupOfOp[boundary.producer] != groupOfOp[boundary.consumer])
      result.boundaries.push_back(std::move(boundary));
  return result;
}

} // namespace

GroupedBlock formGroups(Block &block) {
  return Former(block).run();
}

} // namespace tenon::compiler::dispatch
