// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IREE's asynchronous ABI, which it gives models that come from Torch and ONNX: @f$async takes a fence that says when
// its arguments are there, and one to signal when its results are; @f creates the second, calls @f$async and waits.
//
// A program has no need of either. It does its work on the stream of the call, behind what the caller put there, and
// who reads a result waits for the stream. So the fences go, and @f$async, which then is what @f is, is no function to
// call from outside where the module has an @f.
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/util/UtilOps.h"
#include "compiler/input/steps/steps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

bool isFence(Type type) {
  return isa<hal::FenceType>(type);
}

/// Takes fences from what waits for them and signals them.
void dropUses(ModuleOp module) {
  module.walk([](Operation *op) {
    OpBuilder builder(op);
    if (auto import = dyn_cast<hal::TensorImportOp>(op)) {
      import.getWaitFenceMutable().clear();
    } else if (auto alias = dyn_cast<hal::TensorAliasOp>(op)) {
      alias.getWaitFenceMutable().clear();
      alias.getSourceDimsMutable().clear(); // the tensor has them
    } else if (auto barrier = dyn_cast<hal::TensorBarrierOp>(op)) {
      barrier->replaceAllUsesWith(barrier.getSources());
      barrier.erase();
    } else if (isa<hal::FenceSignalOp>(op)) {
      op->erase();
    } else if (auto await = dyn_cast<hal::FenceAwaitOp>(op)) {
      await.getStatus().replaceAllUsesWith(
          arith::ConstantOp::create(builder, await.getLoc(), builder.getI32IntegerAttr(0)));
      await.erase();
    }
  });
}

/// Takes fences from calls. What is called is no function of the program's own then.
llvm::StringSet<> dropFromCalls(ModuleOp module) {
  llvm::StringSet<> called;
  module.walk([&](func::CallOp call) {
    llvm::BitVector fences(call.getNumOperands());
    for (OpOperand &operand : call->getOpOperands())
      fences[operand.getOperandNumber()] = isFence(operand.get().getType());
    if (fences.none())
      return;
    call->eraseOperands(fences);
    called.insert(call.getCallee());
  });
  return called;
}

/// Takes fences from functions; those that are still used stay.
void dropFromFunctions(ModuleOp module, const llvm::StringSet<> &called) {
  for (auto function : module.getOps<func::FuncOp>()) {
    llvm::BitVector fences(function.getNumArguments());
    for (auto [number, type] : llvm::enumerate(function.getArgumentTypes()))
      fences[number] = isFence(type) && (function.isExternal() || function.getArgument(number).use_empty());
    if (fences.none() || failed(function.eraseArguments(fences)))
      continue;
    if (called.contains(function.getSymName()))
      function.setPrivate();
  }
}

/// Takes what made fences, and the devices that they were of.
void dropUnused(ModuleOp module) {
  SmallVector<Operation *> unused;
  module.walk([&](Operation *op) {
    if (isa<hal::FenceCreateOp>(op) || (isa<util::NullOp>(op) && isFence(op->getResult(0).getType())) ||
        isa<hal::DevicesGetOp>(op))
      unused.push_back(op);
  });
  for (Operation *op : llvm::reverse(unused))
    if (op->use_empty())
      op->erase();
}

} // namespace

LogicalResult readFences(ModuleOp module) {
  dropUses(module);
  dropFromFunctions(module, dropFromCalls(module));
  dropUnused(module);
  bool ok = true;
  module.walk([&](Operation *op) {
    auto function = dyn_cast<func::FuncOp>(op);
    const bool holds =
        function
            ? llvm::any_of(function.getArgumentTypes(), isFence) || llvm::any_of(function.getResultTypes(), isFence)
            : llvm::any_of(op->getOperandTypes(), isFence) || llvm::any_of(op->getResultTypes(), isFence);
    if (!holds)
      return;
    ok = false;
    op->emitOpError() << "has a fence; read are those that hal.tensor.import waits for, hal.tensor.barrier signals, "
                         "and a call passes";
  });
  return success(ok);
}

} // namespace tenon::compiler::input
