// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/widen_bf16.h"

#include "mlir/Support/LLVM.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

namespace tenon::compiler::codegen {
namespace {

constexpr unsigned kHalf = 16; // bits
constexpr uint64_t kWordBytes = 4;

/// As many bf16 as fill words of 32 bits.
bool isOfWords(const Type *type) {
  const auto *vector = dyn_cast<FixedVectorType>(type);
  return vector && vector->getElementType()->isBFloatTy() && vector->getNumElements() % 2 == 0;
}

/// The vector of words, or the one word, that `vector` is; null where it is made in another way. What is computed two
/// at a time is one word.
Value *wordsOf(Value *vector) {
  auto *cast = dyn_cast<BitCastInst>(vector);
  if (cast && cast->getSrcTy()->getScalarType()->isIntegerTy(32))
    return cast->getOperand(0);
  auto *computed = dyn_cast<BinaryOperator>(vector);
  if (!computed || llvm::cast<FixedVectorType>(vector->getType())->getNumElements() != 2)
    return nullptr;
  IRBuilder<> b(computed->getNextNode());
  return b.CreateBitCast(computed, b.getInt32Ty());
}

/// What loads vectors of bf16 loads words from here on.
void loadWords(Function &function) {
  SmallVector<LoadInst *> loads;
  for (Instruction &instruction : instructions(function))
    if (auto *load = dyn_cast<LoadInst>(&instruction);
        load && load->isSimple() && isOfWords(load->getType()) && load->getAlign().value() >= kWordBytes)
      loads.push_back(load);
  for (LoadInst *load : loads) {
    IRBuilder<> b(load);
    const unsigned words = cast<FixedVectorType>(load->getType())->getNumElements() / 2;
    Type *type = words == 1 ? b.getInt32Ty() : cast<Type>(FixedVectorType::get(b.getInt32Ty(), words));
    LoadInst *whole = b.CreateAlignedLoad(type, load->getPointerOperand(), load->getAlign());
    whole->copyMetadata(*load, {LLVMContext::MD_invariant_load, LLVMContext::MD_nontemporal});
    load->replaceAllUsesWith(b.CreateBitCast(whole, load->getType()));
    load->eraseFromParent();
  }
}

/// The bits of a half of a word as f32, of a bf16 that was cut out of the word by its number; null: it was not.
Value *halfOfWord(Instruction &extended) {
  Value *cut, *word;
  if (!PatternMatch::match(&extended, PatternMatch::m_FPExt(PatternMatch::m_BitCast(PatternMatch::m_Value(cut)))) ||
      !extended.getOperand(0)->getType()->isBFloatTy() ||
      !PatternMatch::match(cut, PatternMatch::m_Trunc(PatternMatch::m_Value(word))) ||
      !word->getType()->isIntegerTy(2 * kHalf))
    return nullptr;
  IRBuilder<> b(&extended);
  Value *whole;
  if (PatternMatch::match(word, PatternMatch::m_LShr(PatternMatch::m_Value(whole), PatternMatch::m_SpecificInt(kHalf))))
    return b.CreateAnd(whole, ~uint32_t(0) << kHalf);
  return b.CreateShl(word, kHalf);
}

} // namespace

unsigned widenWords(Module &device) {
  unsigned count = 0;
  for (Function &function : device) {
    loadWords(function);
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      Value *vector;
      uint64_t lane;
      if (!instruction.getType()->isFloatTy())
        continue;
      if (Value *bits = halfOfWord(instruction)) {
        instruction.replaceAllUsesWith(IRBuilder<>(&instruction).CreateBitCast(bits, instruction.getType()));
        instruction.eraseFromParent();
        ++count;
        continue;
      }
      if (!PatternMatch::match(&instruction, PatternMatch::m_FPExt(PatternMatch::m_ExtractElt(
                                                 PatternMatch::m_Value(vector), PatternMatch::m_ConstantInt(lane)))) ||
          !isOfWords(vector->getType()))
        continue;
      Value *words = wordsOf(vector);
      if (!words)
        continue;
      IRBuilder<> b(&instruction);
      Value *word = words;
      if (words->getType()->isVectorTy()) {
        Value *known = findScalarElement(words, unsigned(lane / 2));
        word = known ? known : b.CreateExtractElement(words, lane / 2);
      }
      Value *bits = lane % 2 == 0 ? b.CreateShl(word, kHalf) : b.CreateAnd(word, ~uint32_t(0) << kHalf);
      instruction.replaceAllUsesWith(b.CreateBitCast(bits, b.getFloatTy()));
      instruction.eraseFromParent();
      ++count;
    }
  }
  return count;
}

} // namespace tenon::compiler::codegen
