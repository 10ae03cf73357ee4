// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/target_queries.h"

#include "abi/arch_table.h"
#include "compiler/codegen/kernel/kernel_builder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace tenon::compiler::codegen {

void answerTargetQueries(llvm::Module &device, abi::TargetArch arch) {
  llvm::Function *query = device.getFunction(kHasClusters);
  if (!query)
    return;
  llvm::Constant *answer = llvm::ConstantInt::getBool(device.getContext(), abi::hasClusters(arch.number));
  for (llvm::User *user : llvm::make_early_inc_range(query->users())) {
    auto *call = llvm::cast<llvm::CallInst>(user);
    call->replaceAllUsesWith(answer);
    call->eraseFromParent();
  }
  query->eraseFromParent();
}

} // namespace tenon::compiler::codegen
