// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/early_launch.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

namespace tenon::compiler::codegen {

namespace {

/// Kernels that have something to do before they touch memory say where they wait.
bool hasWait(llvm::Function &function) {
  return llvm::any_of(llvm::instructions(function), [](llvm::Instruction &instruction) {
    auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    return call && call->isInlineAsm() &&
           llvm::cast<llvm::InlineAsm>(call->getCalledOperand())->getAsmString() == kWaitForEarlierLaunches;
  });
}

} // namespace

void waitForEarlierLaunches(llvm::Module &device, abi::TargetArch arch) {
  if (arch.number < kFirstWithEarlyLaunch)
    return;
  llvm::FunctionType *type = llvm::FunctionType::get(llvm::Type::getVoidTy(device.getContext()), /*isVarArg=*/false);
  // All of memory is what the kernels before have written: nothing is read ahead of the wait.
  llvm::InlineAsm *wait = llvm::InlineAsm::get(type, kWaitForEarlierLaunches, "~{memory}", /*hasSideEffects=*/true);
  for (llvm::Function &function : device) {
    if (function.isDeclaration() || function.getCallingConv() != llvm::CallingConv::PTX_Kernel || hasWait(function))
      continue;
    llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
    builder.CreateCall(type, wait)->setConvergent();
    function.setConvergent();
  }
}

} // namespace tenon::compiler::codegen
