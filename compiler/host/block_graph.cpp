// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/block_graph.h"

#include "mlir/Analysis/Liveness.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace tenon::compiler::host {
namespace {

bool isGlobalAccess(Operation &op) {
  return isa<util::GlobalLoadOp, util::GlobalStoreOp>(op);
}

/// The terminator computes with `value` itself, and does not only hand it on.
bool isDecidedBy(Operation *terminator, Value value) {
  if (auto branch = dyn_cast<cf::CondBranchOp>(terminator))
    return branch.getCondition() == value;
  if (auto choice = dyn_cast<cf::SwitchOp>(terminator))
    return choice.getFlag() == value;
  return false;
}

/// The first operation that computes with an element that was read in its own block; reads before it are done at once.
Operation *firstUserOfReads(Block &block) {
  llvm::SmallPtrSet<Operation *, 8> reads;
  for (Operation &op : block) {
    for (Value operand : op.getOperands())
      if (Operation *definition = operand.getDefiningOp();
          definition && reads.contains(definition) &&
          (!op.hasTrait<OpTrait::IsTerminator>() || isDecidedBy(&op, operand)))
        return &op;
    if (isa<tensor::ExtractOp>(op))
      reads.insert(&op);
  }
  return nullptr;
}

void splitAtReads(func::FuncOp function) {
  // New blocks come behind the one that was split, and are looked at then.
  for (Block &block : function.getBody()) {
    Operation *user = firstUserOfReads(block);
    if (!user)
      continue;
    Block *rest = block.splitBlock(user);
    OpBuilder builder = OpBuilder::atBlockEnd(&block);
    cf::BranchOp::create(builder, user->getLoc(), rest);
  }
}

/// What costs nothing to make again.
bool isCheapToRepeat(Operation *op) {
  return isa<arith::ConstantOp, util::UnfoldableConstantOp, tensor::EmptyOp>(op);
}

void repeatWhereRead(func::FuncOp function) {
  SmallVector<Operation *> cheap;
  for (Operation &op : function.getOps())
    if (isCheapToRepeat(&op))
      cheap.push_back(&op);
  // Sizes of empty tensors are repeated behind the tensors themselves.
  for (Operation *op : llvm::reverse(cheap)) {
    llvm::MapVector<Block *, SmallVector<OpOperand *>> uses;
    for (OpOperand &use : op->getUses())
      if (Block *block = function.getBody().findAncestorBlockInRegion(*use.getOwner()->getBlock());
          block && block != op->getBlock())
        uses[block].push_back(&use);
    for (auto &[block, operands] : uses) {
      OpBuilder builder = OpBuilder::atBlockBegin(block);
      Value repeated = builder.clone(*op)->getResult(0);
      for (OpOperand *operand : operands)
        operand->set(repeated);
    }
    if (op->use_empty())
      op->erase();
  }
}

/// Loads behind a store, or behind another load, have the value that is known; of stores the last counts.
void forwardGlobals(HostBlock &host) {
  llvm::MapVector<StringRef, Value> known;
  llvm::MapVector<StringRef, util::GlobalStoreOp> last;
  for (Operation &op : llvm::make_early_inc_range(*host.block)) {
    if (auto load = dyn_cast<util::GlobalLoadOp>(op)) {
      Value &value = known[load.getGlobal()];
      if (value) {
        load.getResult().replaceAllUsesWith(value);
        load.erase();
      } else {
        value = load.getResult();
        host.loads.push_back(load);
      }
    } else if (auto store = dyn_cast<util::GlobalStoreOp>(op)) {
      known[store.getGlobal()] = store.getValue();
      util::GlobalStoreOp &previous = last[store.getGlobal()];
      if (previous)
        previous.erase();
      previous = store;
    }
  }
  for (auto &[name, store] : last)
    host.stores.push_back(store);
}

} // namespace

bool needsBlocks(func::FuncOp function) {
  return !function.getBody().hasOneBlock() || llvm::any_of(function.getOps(), [](Operation &op) {
    return isGlobalAccess(op) || isa<tensor::ExtractOp>(op);
  });
}

SmallVector<HostBlock> formBlocks(func::FuncOp function) {
  splitAtReads(function);
  repeatWhereRead(function);
  SmallVector<HostBlock> blocks;
  for (Block &block : function.getBody()) {
    blocks.push_back({&block, {}, {}, {}});
    forwardGlobals(blocks.back());
  }
  DenseMap<Value, unsigned> order; // as they are written
  for (Block &block : function.getBody()) {
    for (Value argument : block.getArguments())
      order.try_emplace(argument, order.size());
    for (Operation &op : block)
      for (Value result : op.getResults())
        order.try_emplace(result, order.size());
  }
  Liveness liveness(function);
  for (HostBlock &host : blocks) {
    llvm::append_range(host.parameters, host.block->getArguments());
    SmallVector<Value> handed;
    for (Value value : liveness.getLiveIn(host.block))
      handed.push_back(value);
    llvm::sort(handed, [&](Value a, Value b) { return order.lookup(a) < order.lookup(b); });
    llvm::append_range(host.parameters, handed);
  }
  return blocks;
}

} // namespace tenon::compiler::host
