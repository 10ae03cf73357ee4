// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-lower-control-flow (Passes.td).
#include "compiler/host/control_flow.h"

#include "compiler/dialect/hal/declarations.h"
#include "compiler/host/Passes.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tenon::compiler::host {

#define GEN_PASS_DEF_LOWERCONTROLFLOW
#include "compiler/host/Passes.h.inc"

namespace {

bool isControl(Operation *op) {
  return isa<scf::IfOp, scf::ForOp, scf::WhileOp, scf::ParallelOp, scf::IndexSwitchOp, scf::ExecuteRegionOp>(op);
}

/// Control flow of the function itself: nothing is around it but more of it.
bool isHostControl(Operation *op) {
  if (!isControl(op))
    return false;
  Operation *parent = op->getParentOp();
  while (isControl(parent))
    parent = parent->getParentOp();
  return isa<func::FuncOp>(parent);
}

// On choices that the program itself has, while branches are simplified.
constexpr StringLiteral kWritten = "tenon.written";

bool choosesTensor(arith::SelectOp select) {
  auto type = dyn_cast<RankedTensorType>(select.getType());
  return type && !type.hasStaticShape() && select.getCondition().getType().isInteger(1);
}

/// A branch that computes nothing, which simplifyBranches() has made a choice of, is one again where it is about whole
/// tensors whose sizes may differ: either is handed on as it is. A kernel would copy it, and compare the sizes.
void branchAgain(arith::SelectOp select) {
  Block *before = select->getBlock();
  Block *after = before->splitBlock(select->getNextNode());
  OpBuilder b(select);
  auto blockThatHandsOn = [&](Value value) {
    Block *block = b.createBlock(after);
    cf::BranchOp::create(b, select.getLoc(), after, value);
    return block;
  };
  Block *yes = blockThatHandsOn(select.getTrueValue()), *no = blockThatHandsOn(select.getFalseValue());
  b.setInsertionPointToEnd(before);
  cf::CondBranchOp::create(b, select.getLoc(), select.getCondition(), yes, no);
  select.replaceAllUsesWith(after->addArgument(select.getType(), select.getLoc()));
  select.erase();
}

/// simplifyBranches(), but for choices between tensors.
void simplifyButForTensors(func::FuncOp function) {
  for (auto select : function.getOps<arith::SelectOp>())
    select->setDiscardableAttr(kWritten, UnitAttr::get(select.getContext())); // computed, as it says
  simplifyBranches(function);
  for (auto select : llvm::to_vector(function.getOps<arith::SelectOp>()))
    if (!select->removeDiscardableAttr(kWritten) && choosesTensor(select))
      branchAgain(select);
}

/// Branches look at 32 bits of what a switch is about: it becomes one over the numbers of its cases.
void numberCases(scf::IndexSwitchOp op) {
  OpBuilder b(op);
  const Location loc = op.getLoc();
  auto number = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, loc, value); };
  const SmallVector<int64_t> cases = llvm::to_vector(op.getCases());
  Value chosen = number(int64_t(cases.size()));
  for (auto [i, value] : llvm::enumerate(cases)) {
    Value isIt = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, op.getArg(), number(value));
    chosen = arith::SelectOp::create(b, loc, isIt, number(int64_t(i)), chosen);
  }
  op.getArgMutable().assign(chosen);
  op.setCases(llvm::to_vector(llvm::seq<int64_t>(int64_t(cases.size()))));
}

} // namespace

LogicalResult lowerToBranches(func::FuncOp function) {
  WalkResult found = function.getBody().walk<WalkOrder::PreOrder>([](Operation *op) {
    return isHostControl(op) ? WalkResult::interrupt() : isControl(op) ? WalkResult::skip() : WalkResult::advance();
  });
  if (!found.wasInterrupted())
    return success();
  function.walk([](scf::IndexSwitchOp op) {
    if (isHostControl(op))
      numberCases(op);
  });
  RewritePatternSet patterns(function.getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget target(*function.getContext());
  target.addDynamicallyLegalOp<scf::IfOp, scf::ForOp, scf::WhileOp, scf::ParallelOp, scf::IndexSwitchOp,
                               scf::ExecuteRegionOp>([](Operation *op) { return !isHostControl(op); });
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(function, target, std::move(patterns));
}

void simplifyBranches(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  for (RegisteredOperationName name : function.getContext()->getRegisteredOperations())
    if (isa_and_nonnull<cf::ControlFlowDialect>(&name.getDialect()))
      name.getCanonicalizationPatterns(patterns, function.getContext());
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal);
  // A block that goes may leave the next one a single way in, and a condition that is known then: a round for each.
  config.setMaxIterations(int64_t(function.getBody().getBlocks().size()) + config.getMaxIterations());
  (void)applyPatternsGreedily(function, std::move(patterns), config); // blocks that are left are right as well
}

/// Whether each block stands behind those that have run whenever it does.
static bool areInOrder(Region &region) {
  DominanceInfo dominance(region.getParentOp());
  llvm::SmallPtrSet<Block *, 16> before;
  for (Block &block : region) {
    auto *node = dominance.getNode(&block); // null: nothing reaches the block
    if (node && node->getIDom() && !before.contains(node->getIDom()->getBlock()))
      return false;
    before.insert(&block);
  }
  return true;
}

void orderBlocks(func::FuncOp function) {
  Region &region = function.getBody();
  if (region.hasOneBlock() || areInOrder(region)) // of one block there is no dominance
    return;
  for (Block *block : getBlocksSortedByDominance(region))
    block->moveBefore(&region, region.end());
}

namespace {

struct LowerControlFlow : impl::LowerControlFlowBase<LowerControlFlow> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    const llvm::StringSet<> fallbacks = fallbackFunctionsOf(module); // kernels, not host code
    bool ok = true;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal() || fallbacks.contains(function.getName()))
        continue;
      ok &= succeeded(lowerToBranches(function));
      if (ok && !function.getBody().hasOneBlock()) {
        simplifyButForTensors(function);
        orderBlocks(function);
      }
    }
    if (!ok)
      signalPassFailure();
  }
};

} // namespace

} // namespace tenon::compiler::host
