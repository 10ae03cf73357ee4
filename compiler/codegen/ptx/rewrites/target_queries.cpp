// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/target_queries.h"

#include "abi/arch_table.h"
#include "compiler/codegen/kernel/kernel_builder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace tenon::compiler::codegen {

namespace {

/// Strategies give the blocks of a cluster up to so much: more than there is where workgroups have 99 KiB (sm_120).
constexpr uint32_t kSharedWithClusters = 128 << 10;

bool takesClusters(abi::TargetArch arch) {
  const abi::Architecture *known = abi::findArchitecture(arch.number);
  return abi::hasClusters(arch.number) && (!known || known->limits.blockSharedBytes >= kSharedWithClusters);
}

} // namespace

void answerTargetQueries(llvm::Module &device, abi::TargetArch arch) {
  llvm::Function *query = device.getFunction(kHasClusters);
  if (!query)
    return;
  llvm::Constant *answer = llvm::ConstantInt::getBool(device.getContext(), takesClusters(arch));
  for (llvm::User *user : llvm::make_early_inc_range(query->users())) {
    auto *call = llvm::cast<llvm::CallInst>(user);
    call->replaceAllUsesWith(answer);
    call->eraseFromParent();
  }
  query->eraseFromParent();
}

} // namespace tenon::compiler::codegen
