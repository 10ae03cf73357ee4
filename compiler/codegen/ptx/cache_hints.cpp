// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/cache_hints.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace tenon::compiler::codegen {
namespace {

constexpr unsigned kGlobalSpace = 1;

/// 8 or 16 bytes from global memory, at once. Nothing else is worth a hint.
bool isStreamed(const LoadInst &load) {
  if (!load.hasMetadata(LLVMContext::MD_nontemporal) || !load.isSimple() ||
      load.getPointerAddressSpace() != kGlobalSpace || !load.getType()->isVectorTy())
    return false;
  const uint64_t bits = load.getDataLayout().getTypeSizeInBits(load.getType());
  return (bits == 64 || bits == 128) && load.getAlign().value() * 8 >= bits;
}

/// To LLVM it is what the load was: it reads by its argument, and has no other effect.
Value *loadBy(LoadInst &load, Value *policy) {
  IRBuilder<> b(&load);
  const unsigned words = unsigned(load.getDataLayout().getTypeSizeInBits(load.getType())) / 32;
  std::string registers, constraints;
  for (unsigned word = 0; word < words; ++word) {
    registers += (word ? ", $" : "$") + std::to_string(word);
    constraints += "=r,";
  }
  const std::string text = "ld.global.L1::evict_last.L2::cache_hint.v" + std::to_string(words) + ".b32 {" + registers +
                           "}, [$" + std::to_string(words) + "], $" + std::to_string(words + 1) + ";";
  StructType *type = StructType::get(load.getContext(), SmallVector<Type *>(words, b.getInt32Ty()));
  auto *signature = FunctionType::get(type, {load.getPointerOperandType(), b.getInt64Ty()}, /*isVarArg=*/false);
  CallInst *loaded = b.CreateCall(InlineAsm::get(signature, text, constraints + "l,l", /*hasSideEffects=*/false),
                                  {load.getPointerOperand(), policy});
  loaded->setMemoryEffects(MemoryEffects::argMemOnly(ModRefInfo::Ref));
  loaded->setDoesNotThrow();
  loaded->addFnAttr(Attribute::WillReturn);
  Value *all = PoisonValue::get(FixedVectorType::get(b.getInt32Ty(), words));
  for (unsigned word = 0; word < words; ++word)
    all = b.CreateInsertElement(all, b.CreateExtractValue(loaded, word), word);
  return b.CreateBitCast(all, load.getType());
}

} // namespace

void addCacheHints(Module &device) {
  for (Function &function : device) {
    SmallVector<LoadInst *> loads;
    for (Instruction &instruction : instructions(function))
      if (auto *load = dyn_cast<LoadInst>(&instruction); load && isStreamed(*load))
        loads.push_back(load);
    if (loads.empty())
      continue;
    IRBuilder<> b(&*function.getEntryBlock().getFirstInsertionPt());
    CallInst *policy = b.CreateCall(InlineAsm::get(FunctionType::get(b.getInt64Ty(), /*isVarArg=*/false),
                                                   "createpolicy.fractional.L2::evict_last.b64 $0, 1.0;", "=l",
                                                   /*hasSideEffects=*/false));
    policy->setDoesNotAccessMemory();
    policy->setDoesNotThrow();
    for (LoadInst *load : loads) {
      load->replaceAllUsesWith(loadBy(*load, policy));
      load->eraseFromParent();
    }
  }
}

} // namespace tenon::compiler::codegen
