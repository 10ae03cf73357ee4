// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/inline_calls.h"

#include "compiler/dialect/hal/declarations.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace tenon::compiler::host {
namespace {

// Calls of calls of calls grow without end; no program of use comes near.
constexpr size_t kMaxClonedOperations = 1000000;

class CallInliner {
public:
  explicit CallInliner(mlir::ModuleOp module) : symbols_(module) {}

  /// Leaves no call in `function`. Callees are done first, so that each body is cloned once per call and never walked
  /// twice.
  mlir::LogicalResult run(mlir::func::FuncOp function) {
    State &state = states_[function];
    if (state == State::Done)
      return mlir::success();
    state = State::Running;
    llvm::SmallVector<mlir::func::CallOp> calls;
    function.walk([&](mlir::func::CallOp call) { calls.push_back(call); });
    for (mlir::func::CallOp call : calls)
      if (mlir::failed(inlineCall(call)))
        return mlir::failure();
    states_[function] = State::Done;
    return mlir::success();
  }

private:
  enum class State : uint8_t { New, Running, Done };

  mlir::LogicalResult inlineCall(mlir::func::CallOp call) {
    auto callee = symbols_.lookup<mlir::func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal())
      return refuse(call, callee, "has no body");
    if (states_[callee] == State::Running)
      return refuse(call, callee, "calls itself");
    if (!callee.getBody().hasOneBlock())
      return refuse(call, callee, "has control flow");
    if (mlir::failed(run(callee)))
      return mlir::failure();

    clonedOperations_ += callee.getBody().front().getOperations().size();
    if (clonedOperations_ > kMaxClonedOperations)
      return refuse(call, callee, "makes the module larger than a million operations");

    mlir::IRMapping mapping;
    mapping.map(callee.getArguments(), call.getOperands());
    mlir::OpBuilder builder(call);
    for (mlir::Operation &op : callee.getBody().front().without_terminator())
      builder.clone(op, mapping);
    mlir::Operation *terminator = callee.getBody().front().getTerminator();
    for (auto [result, returned] : llvm::zip_equal(call.getResults(), terminator->getOperands()))
      result.replaceAllUsesWith(mapping.lookupOrDefault(returned));
    call.erase();
    return mlir::success();
  }

  mlir::LogicalResult refuse(mlir::func::CallOp call, mlir::func::FuncOp callee, llvm::StringRef why) {
    mlir::InFlightDiagnostic error = call.emitOpError() << "cannot be inlined: '@" << call.getCallee() << "' " << why;
    if (callee)
      error.attachNote(callee.getLoc()) << "'@" << call.getCallee() << "' is here";
    return error;
  }

  mlir::SymbolTable symbols_;
  size_t clonedOperations_ = 0;
  llvm::DenseMap<mlir::Operation *, State> states_;
};

} // namespace

mlir::LogicalResult inlineCalls(mlir::ModuleOp module) {
  CallInliner inliner(module);
  const llvm::StringSet<> fallbacks = fallbackFunctionsOf(module);
  auto isKept = [&](mlir::func::FuncOp function) {
    return function.isPublic() || fallbacks.contains(function.getName());
  };
  bool failed = false;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (isKept(function) && mlir::failed(inliner.run(function)))
      failed = true;
  if (failed)
    return mlir::failure();
  for (auto function : llvm::make_early_inc_range(module.getOps<mlir::func::FuncOp>()))
    if (!isKept(function))
      function.erase();
  return mlir::success();
}

} // namespace tenon::compiler::host
