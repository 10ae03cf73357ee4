// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/early_launch.h"

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

/// How many blocks a launch may have that has the next one launched; none: it has not.
std::optional<uint32_t> mostBlocksOf(mlir::LLVM::LLVMFuncOp kernel) {
  mlir::ArrayAttr passed = kernel.getPassthroughAttr();
  for (mlir::Attribute each : passed ? passed.getValue() : llvm::ArrayRef<mlir::Attribute>())
    if (auto pair = llvm::dyn_cast<mlir::ArrayAttr>(each); pair && pair.size() == 2)
      if (uint32_t most = 0; llvm::cast<mlir::StringAttr>(pair[0]).getValue() == kMostBlocks &&
                             !llvm::cast<mlir::StringAttr>(pair[1]).getValue().getAsInteger(10, most))
        return most;
  return std::nullopt;
}

bool saysWhereItWaits(mlir::LLVM::LLVMFuncOp kernel) {
  return kernel
      ->walk([](mlir::LLVM::InlineAsmOp assembly) {
        return assembly.getAsmString().contains(kWaitForEarlierLaunches) ? mlir::WalkResult::interrupt()
                                                                         : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

/// Behind the declarations of a kernel's body and the loads of its parameters.
size_t firstInstruction(llvm::StringRef body) {
  size_t at = 0;
  while (at < body.size()) {
    const llvm::StringRef line = body.substr(at).split('\n').first;
    const llvm::StringRef text = line.trim();
    const bool isLocation = text.starts_with(".loc");
    if (!text.empty() && !text.starts_with("//") && !text.starts_with("ld.param") &&
        (!text.starts_with(".") || isLocation))
      break;
    at += line.size() + 1;
  }
  return at;
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

std::optional<PlainWaits> plainWaitsOf(mlir::ModuleOp module) {
  PlainWaits waits;
  for (auto kernel : module.getOps<mlir::LLVM::LLVMFuncOp>()) {
    if (kernel.isExternal())
      continue;
    const std::optional<uint32_t> most = mostBlocksOf(kernel);
    if (most.value_or(0) != 0 || saysWhereItWaits(kernel))
      return std::nullopt;
    waits[kernel.getName()] = most.has_value();
  }
  return waits;
}

std::string writeWaits(llvm::StringRef ptx, const PlainWaits &waits) {
  constexpr llvm::StringLiteral kEntry = ".entry ";
  auto assembly = [](llvm::StringRef text) {
    return ("\t// begin inline asm\n\t" + text + "\n\t// end inline asm\n").str();
  };
  std::string result;
  for (size_t at; (at = ptx.find(kEntry)) != llvm::StringRef::npos;) {
    const llvm::StringRef name = ptx.substr(at + kEntry.size()).take_until([](char c) { return c == '('; });
    const auto wait = waits.find(name);
    at = ptx.find("\n{\n", at);
    if (at == llvm::StringRef::npos)
      break;
    at += 3;
    at += firstInstruction(ptx.substr(at));
    result += ptx.take_front(at);
    ptx = ptx.drop_front(at);
    if (wait == waits.end())
      continue;
    result += assembly(kWaitForEarlierLaunches);
    if (wait->second)
      result += assembly(kLaunchNext);
  }
  return result += ptx;
}

} // namespace tenon::compiler::codegen
