// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-inline-calls (Passes.td).
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/util/UtilOps.h"
#include "compiler/host/Passes.h"
#include "compiler/host/control_flow.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tenon::compiler::host {

#define GEN_PASS_DEF_INLINECALLS
#include "compiler/host/Passes.h.inc"

namespace {

// Calls of calls of calls grow without end; no program of use comes near.
constexpr size_t kMaxClonedOperations = 1000000;

class CallInliner {
public:
  explicit CallInliner(ModuleOp module) : symbols_(module) {}

  /// Leaves no call in `function`. Callees are done first, so that each body is cloned once per call and never walked
  /// twice.
  LogicalResult run(func::FuncOp function) {
    State &state = states_[function];
    if (state == State::Done)
      return success();
    state = State::Running;
    SmallVector<func::CallOp> calls;
    function.walk([&](func::CallOp call) { calls.push_back(call); });
    bool hasBranches = false;
    for (func::CallOp call : calls) {
      if (failed(prepareCallee(call)))
        return failure();
      hasBranches |= !symbols_.lookup<func::FuncOp>(call.getCallee()).getBody().hasOneBlock();
    }
    if (hasBranches && failed(lowerToBranches(function))) // a block inside of scf.if has no room for others
      return failure();
    for (func::CallOp call : calls)
      if (failed(inlineCall(call)))
        return failure();
    states_[function] = State::Done;
    return success();
  }

private:
  enum class State : uint8_t { New, Running, Done };

  /// Nothing is left to inline in the callee.
  LogicalResult prepareCallee(func::CallOp call) {
    auto callee = symbols_.lookup<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal())
      return refuse(call, callee, "has no body");
    if (states_[callee] == State::Running)
      return refuse(call, callee, "calls itself");
    return run(callee);
  }

  LogicalResult inlineCall(func::CallOp call) {
    auto callee = symbols_.lookup<func::FuncOp>(call.getCallee());
    const bool hasBranches = !callee.getBody().hasOneBlock();
    if (hasBranches && !isa<func::FuncOp>(call->getParentOp()))
      return refuse(call, callee, "has branches, and tensor code calls it");
    callee.getBody().walk([&](Operation *) { ++clonedOperations_; });
    if (clonedOperations_ > kMaxClonedOperations)
      return refuse(call, callee, "makes the module larger than a million operations");

    IRMapping mapping;
    mapping.map(callee.getArguments(), call.getOperands());
    if (hasBranches) {
      inlineBlocks(call, callee, mapping);
    } else {
      OpBuilder builder(call);
      for (Operation &op : callee.getBody().front().without_terminator())
        builder.clone(op, mapping);
      Operation *terminator = callee.getBody().front().getTerminator();
      for (auto [result, returned] : llvm::zip_equal(call.getResults(), terminator->getOperands()))
        result.replaceAllUsesWith(mapping.lookupOrDefault(returned));
    }
    call.erase();
    return success();
  }

  /// What is behind the call becomes a block that takes its results.
  static void inlineBlocks(func::CallOp call, func::FuncOp callee, IRMapping &mapping) {
    Block *before = call->getBlock(), *after = before->splitBlock(call);
    for (Value result : call.getResults())
      result.replaceAllUsesWith(after->addArgument(result.getType(), call.getLoc()));
    callee.getBody().cloneInto(before->getParent(), after->getIterator(), mapping);
    OpBuilder builder = OpBuilder::atBlockEnd(before);
    cf::BranchOp::create(builder, call.getLoc(), mapping.lookup(&callee.getBody().front()));
    for (Block &block : callee.getBody())
      if (auto returned = dyn_cast<func::ReturnOp>(mapping.lookup(&block)->getTerminator())) {
        OpBuilder atReturn(returned);
        cf::BranchOp::create(atReturn, returned.getLoc(), after, returned.getOperands());
        returned.erase();
      }
  }

  LogicalResult refuse(func::CallOp call, func::FuncOp callee, StringRef why) {
    InFlightDiagnostic error = call.emitOpError() << "cannot be inlined: '@" << call.getCallee() << "' " << why;
    if (callee)
      error.attachNote(callee.getLoc()) << "'@" << call.getCallee() << "' is here";
    return error;
  }

  SymbolTable symbols_;
  size_t clonedOperations_ = 0;
  DenseMap<Operation *, State> states_;
};

struct InlineCalls : impl::InlineCallsBase<InlineCalls> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    CallInliner inliner(module);
    const llvm::StringSet<> fallbacks = fallbackFunctionsOf(module);
    auto isKept = [&](func::FuncOp function) {
      return function.isPublic() || fallbacks.contains(function.getName()) || function->hasAttr(util::kInitializerAttr);
    };
    bool ok = true;
    for (auto function : module.getOps<func::FuncOp>())
      if (isKept(function))
        ok &= succeeded(inliner.run(function));
    if (!ok)
      return signalPassFailure();
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (!isKept(function))
        function.erase();
  }
};

} // namespace

} // namespace tenon::compiler::host
