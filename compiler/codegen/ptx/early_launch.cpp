// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/early_launch.h"

#include "abi/arch_table.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

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

constexpr llvm::StringLiteral kMostBlocks = "tenon-most-blocks-of-early-launch";

/// if (blocks of the grid <= most) launch_dependents; 0: without a condition
void launchNext(llvm::IRBuilder<> &builder, uint32_t most) {
  llvm::FunctionType *type = llvm::FunctionType::get(builder.getVoidTy(), /*isVarArg=*/false);
  llvm::InlineAsm *launch = llvm::InlineAsm::get(type, kLaunchNext, "~{memory}", /*hasSideEffects=*/true);
  if (most != 0) {
    // Clusters: of kernels that have none, each block is one. A kernel that asked for the number of its blocks would
    // take any (kernel_abi.md, K-25).
    llvm::Value *blocks = builder.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_nclusterid_x, {});
    llvm::Value *areFew = builder.CreateICmpULE(blocks, builder.getInt32(most));
    builder.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(areFew, builder.GetInsertPoint(), /*Unreachable=*/false));
  }
  builder.CreateCall(type, launch)->setConvergent();
}

} // namespace

void launchNextEarly(mlir::LLVM::LLVMFuncOp kernel, uint32_t mostBlocks) {
  mlir::Builder b(kernel.getContext());
  llvm::SmallVector<mlir::Attribute> passed;
  if (mlir::ArrayAttr others = kernel.getPassthroughAttr())
    llvm::append_range(passed, others);
  passed.push_back(b.getStrArrayAttr({kMostBlocks, std::to_string(mostBlocks)}));
  kernel.setPassthroughAttr(b.getArrayAttr(passed));
}

void waitForEarlierLaunches(llvm::Module &device, abi::TargetArch arch) {
  if (arch.number < abi::kFirstWithDependentLaunch)
    return;
  llvm::FunctionType *type = llvm::FunctionType::get(llvm::Type::getVoidTy(device.getContext()), /*isVarArg=*/false);
  // All of memory is what the kernels before have written: nothing is read ahead of the wait.
  llvm::InlineAsm *wait = llvm::InlineAsm::get(type, kWaitForEarlierLaunches, "~{memory}", /*hasSideEffects=*/true);
  for (llvm::Function &function : device) {
    if (function.isDeclaration() || function.getCallingConv() != llvm::CallingConv::PTX_Kernel || hasWait(function))
      continue;
    llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
    builder.CreateCall(type, wait)->setConvergent();
    uint32_t most = 0;
    if (!function.getFnAttribute(kMostBlocks).getValueAsString().getAsInteger(10, most))
      launchNext(builder, most);
    function.setConvergent();
  }
}

} // namespace tenon::compiler::codegen
