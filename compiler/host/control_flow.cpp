// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-lower-control-flow (Passes.td).
#include "compiler/host/control_flow.h"

#include "compiler/dialect/hal/declarations.h"
#include "compiler/host/Passes.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

} // namespace

LogicalResult lowerToBranches(func::FuncOp function) {
  WalkResult found = function.getBody().walk<WalkOrder::PreOrder>([](Operation *op) {
    return isHostControl(op) ? WalkResult::interrupt() : isControl(op) ? WalkResult::skip() : WalkResult::advance();
  });
  if (!found.wasInterrupted())
    return success();
  RewritePatternSet patterns(function.getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget target(*function.getContext());
  target.addDynamicallyLegalOp<scf::IfOp, scf::ForOp, scf::WhileOp, scf::ParallelOp, scf::IndexSwitchOp,
                               scf::ExecuteRegionOp>([](Operation *op) { return !isHostControl(op); });
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(function, target, std::move(patterns));
}

LogicalResult simplifyBranches(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  for (RegisteredOperationName name : function.getContext()->getRegisteredOperations())
    if (isa_and_nonnull<cf::ControlFlowDialect>(&name.getDialect()))
      name.getCanonicalizationPatterns(patterns, function.getContext());
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal);
  return applyPatternsGreedily(function, std::move(patterns), config);
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
      if (ok && !function.getBody().hasOneBlock())
        ok &= succeeded(simplifyBranches(function));
    }
    if (!ok)
      signalPassFailure();
  }
};

} // namespace

} // namespace tenon::compiler::host
