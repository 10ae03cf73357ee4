// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/cache_hints.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace tenon::compiler::codegen {
namespace {

constexpr unsigned kGlobalSpace = 1;

/// 4, 8 or 16 bytes from global memory, at once.
unsigned wordsOf(const LoadInst &load) {
  if (!load.isSimple() || load.getPointerAddressSpace() != kGlobalSpace || !load.getType()->isVectorTy())
    return 0;
  const uint64_t bits = load.getDataLayout().getTypeSizeInBits(load.getType());
  return (bits == 32 || bits == 64 || bits == 128) && load.getAlign().value() * 8 >= bits ? unsigned(bits / 32) : 0;
}

/// Of fewer bytes, nothing is worth a hint.
bool isStreamed(const LoadInst &load) {
  return load.hasMetadata(LLVMContext::MD_nontemporal) && wordsOf(load) >= 2;
}

bool isWhole(const LoadInst &load) {
  return load.hasMetadata(LLVMContext::MD_invariant_load) && wordsOf(load) >= 1;
}

/// To LLVM it is what the load was: it reads by its argument, and has no other effect.
Value *loadBy(LoadInst &load, StringRef instruction, Value *policy) {
  IRBuilder<> b(&load);
  const unsigned words = wordsOf(load);
  std::string registers, constraints;
  for (unsigned word = 0; word < words; ++word) {
    registers += (word ? ", $" : "$") + std::to_string(word);
    constraints += "=r,";
  }
  const std::string vector = words == 1 ? "" : ".v" + std::to_string(words);
  const std::string result = words == 1 ? registers : "{" + registers + "}";
  std::string text = (instruction + vector + ".b32 " + result + ", [$" + std::to_string(words) + "]").str();
  SmallVector<Value *> operands = {load.getPointerOperand()};
  constraints += "l";
  if (policy) {
    operands.push_back(policy);
    text += ", $" + std::to_string(words + 1);
    constraints += ",l";
  }
  text += ";";
  Type *word = b.getInt32Ty();
  Type *type = words == 1 ? word : StructType::get(load.getContext(), SmallVector<Type *>(words, word));
  SmallVector<Type *> types;
  for (Value *operand : operands)
    types.push_back(operand->getType());
  auto *signature = FunctionType::get(type, types, /*isVarArg=*/false);
  CallInst *loaded = b.CreateCall(InlineAsm::get(signature, text, constraints, /*hasSideEffects=*/false), operands);
  loaded->setMemoryEffects(MemoryEffects::argMemOnly(ModRefInfo::Ref));
  loaded->setDoesNotThrow();
  loaded->addFnAttr(Attribute::WillReturn);
  if (words == 1)
    return b.CreateBitCast(loaded, load.getType());
  Value *all = PoisonValue::get(FixedVectorType::get(word, words));
  for (unsigned each = 0; each < words; ++each)
    all = b.CreateInsertElement(all, b.CreateExtractValue(loaded, each), each);
  return b.CreateBitCast(all, load.getType());
}

SmallVector<LoadInst *> loadsOf(Function &function, function_ref<bool(const LoadInst &)> isWanted) {
  SmallVector<LoadInst *> loads;
  for (Instruction &instruction : instructions(function))
    if (auto *load = dyn_cast<LoadInst>(&instruction); load && isWanted(*load))
      loads.push_back(load);
  return loads;
}

void replace(LoadInst &load, Value *by) {
  load.replaceAllUsesWith(by);
  load.eraseFromParent();
}

} // namespace

void addCacheHints(Module &device) {
  for (Function &function : device) {
    SmallVector<LoadInst *> loads = loadsOf(function, isStreamed);
    if (loads.empty())
      continue;
    IRBuilder<> b(&*function.getEntryBlock().getFirstInsertionPt());
    CallInst *policy = b.CreateCall(InlineAsm::get(FunctionType::get(b.getInt64Ty(), /*isVarArg=*/false),
                                                   "createpolicy.fractional.L2::evict_last.b64 $0, 1.0;", "=l",
                                                   /*hasSideEffects=*/false));
    policy->setDoesNotAccessMemory();
    policy->setDoesNotThrow();
    for (LoadInst *load : loads)
      replace(*load, loadBy(*load, "ld.global.L1::evict_last.L2::cache_hint", policy));
  }
}

void keepWholeLoads(Module &device) {
  for (Function &function : device)
    for (LoadInst *load : loadsOf(function, isWhole))
      replace(*load, loadBy(*load, "ld.global.nc", nullptr));
}

} // namespace tenon::compiler::codegen
