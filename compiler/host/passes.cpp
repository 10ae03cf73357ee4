// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/passes.h"

#include "compiler/host/inline_calls.h"

#include "mlir/Pass/Pass.h"

namespace tenon::compiler::host {
namespace {

struct InlineCallsPass : mlir::PassWrapper<InlineCallsPass, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InlineCallsPass)

  llvm::StringRef getArgument() const override { return "tenon-inline-calls"; }
  llvm::StringRef getDescription() const override { return "replace calls of private functions by their bodies"; }
  void runOnOperation() override {
    if (mlir::failed(inlineCalls(getOperation())))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createInlineCallsPass() {
  return std::make_unique<InlineCallsPass>();
}

void registerHostPasses() {
  mlir::registerPass(createInlineCallsPass);
}

} // namespace tenon::compiler::host
