// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/in_place/ownership.h"

#include "compiler/dialect/donation.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/util/UtilOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// Asks for no element: a size, another name, or memory that is assigned to.
bool readsNothing(OpOperand &use) {
  if (isa<tensor::DimOp>(use.getOwner()) || isRename(use.getOwner()))
    return true;
  auto alias = dyn_cast<hal::TensorAliasOp>(use.getOwner());
  return alias && &use == &alias.getStorageMutable();
}

bool isTwice(flow::DispatchOp launch, std::optional<unsigned> operand) {
  return operand && llvm::count(launch.getTiedOperands().value_or(ArrayRef<int64_t>()), int64_t(*operand)) > 1;
}

} // namespace

SmallVector<Value> Ownership::namesOf(Value root) const {
  SmallVector<Value> names = {root};
  for (size_t i = 0; i < names.size(); ++i)
    for (OpOperand &use : names[i].getUses())
      if (isRename(use.getOwner()) && use.getOperandNumber() < use.getOwner()->getNumResults())
        names.push_back(use.getOwner()->getResult(use.getOperandNumber()));
  return names;
}

SmallVector<Ownership::HandedOn> Ownership::handedOn(Value root) const {
  SmallVector<HandedOn> found;
  for (Value name : namesOf(root))
    for (OpOperand &use : name.getUses()) {
      auto branch = dyn_cast<BranchOpInterface>(use.getOwner());
      if (!branch)
        continue;
      if (std::optional<BlockArgument> parameter = branch.getSuccessorBlockArgument(use.getOperandNumber()))
        found.push_back({&use, parameter->getOwner(), parameter->getArgNumber()});
    }
  return found;
}

bool Ownership::isStored(Value root) const {
  return llvm::any_of(namesOf(root), [](Value name) {
    return llvm::any_of(name.getUses(), [](OpOperand &use) {
      auto alias = dyn_cast<hal::TensorAliasOp>(use.getOwner());
      return isa<util::GlobalStoreOp>(use.getOwner()) || (alias && &use == &alias.getSourceMutable());
    });
  });
}

/// Whether a path that begins with `block` leads to who reads the value, and not past its definition, where it is
/// another.
bool Ownership::isReadFrom(Value root, Block *block) const {
  Region &body = func::FuncOp(function_).getBody();
  llvm::DenseSet<Block *> readers;
  for (Value name : namesOf(root))
    for (OpOperand &use : name.getUses())
      // Another block asks the tensor for its size.
      if (!readsNothing(use) ||
          (isa<tensor::DimOp>(use.getOwner()) && use.getOwner()->getBlock() != root.getParentBlock()))
        readers.insert(body.findAncestorBlockInRegion(*use.getOwner()->getBlock()));
  return llvm::any_of(readers, [&](Block *reader) { return isReachable(root, block, reader); });
}

bool Ownership::isReachable(Value root, Block *from, Block *to) const {
  llvm::SetVector<Block *> reached;
  auto reach = [&](Block *block) {
    if (block != root.getParentBlock())
      reached.insert(block);
  };
  reach(from);
  for (size_t i = 0; i < reached.size(); ++i) {
    if (reached[i] == to)
      return true;
    for (Block *next : reached[i]->getSuccessors())
      reach(next);
  }
  return false;
}

/// Whether a parameter of a block may be another name of the value where `block` runs.
bool Ownership::isOtherwiseHeld(Value root, Block *block) const {
  return llvm::any_of(handedOn(root), [&](const HandedOn &each) {
    return each.use->getOwner()->getBlock() != block && isReachable(root, each.to, block);
  });
}

bool Ownership::isOwned(Value root) const {
  if (isStored(root))
    return false;
  if (auto argument = dyn_cast<BlockArgument>(root)) {
    if (argument.getOwner()->isEntryBlock())
      return isGivenUp(argument);
    return !shared_.contains(root);
  }
  if (auto launch = root.getDefiningOp<flow::DispatchOp>())
    return !isTwice(launch, launch.getTiedOperandIndex(cast<OpResult>(root).getResultNumber()));
  return bool(root.getDefiningOp<tensor::EmptyOp>());
}

/// Whether the block is handed the tensor under two names, because it or a block behind it uses both: one that reads
/// elements back is divided there, and what it has made before then comes to its second part.
bool Ownership::comesTwice(Value root, Block *block) const {
  auto reads = block->getOps<tensor::ExtractOp>();
  Operation *division = reads.empty() ? nullptr : (*reads.begin()).getOperation();
  auto isUsedBehind = [&](OpOperand &use, Value name) {
    Block *where = func::FuncOp(function_).getBody().findAncestorBlockInRegion(*use.getOwner()->getBlock());
    if (where == block)
      return name.getParentBlock() != block || division->isBeforeInBlock(block->findAncestorOpInBlock(*use.getOwner()));
    return llvm::any_of(block->getSuccessors(), [&](Block *next) { return isReachable(root, next, where); });
  };
  return llvm::count_if(namesOf(root), [&](Value name) {
           return (division || name.getParentBlock() != block) &&
                  llvm::any_of(name.getUses(), [&](OpOperand &use) { return isUsedBehind(use, name); });
         }) > 1;
}

/// Whether on every way into its block a parameter is handed what nobody else holds.
bool Ownership::isHandedOver(BlockArgument parameter) const {
  Block *block = parameter.getOwner();
  for (auto pred = block->pred_begin(); pred != block->pred_end(); ++pred) {
    auto branch = dyn_cast<BranchOpInterface>((*pred)->getTerminator());
    if (!branch)
      return false;
    const SuccessorOperands operands = branch.getSuccessorOperands(pred.getSuccessorIndex());
    Value handed = operands[parameter.getArgNumber()];
    if (!handed)
      return false;
    const Value root = withoutRenames(handed);
    const auto here = [&](const HandedOn &each) { return each.use->getOwner() == branch && each.to == block; };
    if (!isOwned(root) || llvm::count_if(handedOn(root), here) != 1 || isReadFrom(root, block) ||
        isOtherwiseHeld(root, *pred) || comesTwice(root, *pred))
      return false;
  }
  return true;
}

Ownership::Ownership(func::FuncOp function) : function_(function) {
  for (bool changes = true; changes;) {
    changes = false;
    for (Block &block : llvm::drop_begin(function.getBody()))
      for (BlockArgument parameter : block.getArguments())
        if (isa<RankedTensorType>(parameter.getType()) && !shared_.contains(parameter) && !isHandedOver(parameter))
          changes |= shared_.insert(parameter).second;
  }
}

std::string Ownership::whyNotOver(Value tensor, Operation *launch) const {
  const Value root = withoutRenames(tensor);
  if (!isOwned(root))
    return isStored(root) ? "a global holds it" : "others hold it, too";
  Block *block = launch->getBlock();
  for (Value name : namesOf(root))
    for (OpOperand &use : name.getUses()) {
      if (readsNothing(use) || use.getOwner()->getBlock() != block || use.getOwner() == launch)
        continue;
      if (launch->isBeforeInBlock(use.getOwner()))
        return "it is read again behind it";
      if (readsAtEnd(use.getOwner()))
        return "it is looked at when the launches around it are done";
    }
  if (hasTwoNames(root, block))
    return "it comes there under two names";
  return whyNotAtEndOver(root, launch);
}

/// A block is handed each name of a tensor that it uses and that is made elsewhere, as if they were two
/// (host/block_graph), and blocks that read elements back are divided there.
bool Ownership::hasTwoNames(Value root, Block *block) const {
  const bool isDivided = !block->getOps<tensor::ExtractOp>().empty();
  return llvm::count_if(namesOf(root), [&](Value name) {
           return (isDivided || name.getParentBlock() != block) &&
                  llvm::any_of(name.getUsers(), [&](Operation *user) { return user->getBlock() == block; });
         }) > 1;
}

std::string Ownership::whyNotAtEndOver(Value argument, Operation *op) const {
  Block *block = op->getBlock();
  if (llvm::any_of(block->getSuccessors(), [&](Block *next) { return isReadFrom(argument, next); }))
    return "it is read again on a way from there";
  if (isOtherwiseHeld(argument, block))
    return "it was handed on before";
  return {};
}

} // namespace tenon::compiler::dispatch
