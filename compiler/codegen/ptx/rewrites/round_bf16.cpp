// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/round_bf16.h"

#include "mlir/Support/LLVM.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace tenon::compiler::codegen {
namespace {

constexpr abi::TargetArch kFirst{80};

/// What is rounded, as one half of a word beside a zero.
Value *wordOf(IRBuilder<> &b, FPTruncInst *rounded, bool isUpper) {
  Value *number = rounded->getOperand(0), *zero = ConstantFP::get(number->getType(), 0);
  return b.CreateIntrinsic(Intrinsic::nvvm_ff2bf16x2_rn, {isUpper ? number : zero, isUpper ? zero : number});
}

/// Whether an operation of bf16 that is no storing one takes the number.
bool computes(const User *user) {
  return isa<BinaryOperator, UnaryOperator, FCmpInst>(user) ||
         (isa<IntrinsicInst>(user) && user->getType()->isBFloatTy());
}

/// Widens the number, or what its sign was changed to.
void widen(FPTruncInst *rounded, Value *&wide, Instruction *widening, bool isNegated) {
  if (!wide) {
    IRBuilder<> b(rounded->getNextNode());
    wide = b.CreateBitCast(wordOf(b, rounded, /*isUpper=*/true), b.getFloatTy());
  }
  IRBuilder<> at(widening);
  widening->replaceAllUsesWith(isNegated ? at.CreateFNeg(wide) : wide);
  widening->eraseFromParent();
}

} // namespace

unsigned roundByPairs(Module &device, abi::TargetArch arch) {
  if (arch.number < kFirst.number)
    return 0;
  SmallVector<FPTruncInst *> found;
  for (Function &function : device)
    for (Instruction &instruction : instructions(function))
      if (auto *rounded = dyn_cast<FPTruncInst>(&instruction);
          rounded && rounded->getType()->isBFloatTy() && rounded->getOperand(0)->getType()->isFloatTy())
        found.push_back(rounded);
  unsigned count = 0;
  for (FPTruncInst *rounded : found) {
    Value *wide = nullptr, *narrow = nullptr;
    for (User *user : SmallVector<User *>(rounded->users())) {
      if (auto *widening = dyn_cast<FPExtInst>(user); widening && widening->getType()->isFloatTy()) {
        widen(rounded, wide, widening, /*isNegated=*/false);
      } else if (auto *negated = dyn_cast<UnaryOperator>(user)) {
        for (User *of : SmallVector<User *>(negated->users()))
          if (auto *after = dyn_cast<FPExtInst>(of); after && after->getType()->isFloatTy())
            widen(rounded, wide, after, /*isNegated=*/true);
        if (negated->use_empty())
          negated->eraseFromParent();
      }
    }
    for (User *user : SmallVector<User *>(rounded->users()))
      if (computes(user)) {
        if (!narrow) {
          IRBuilder<> b(rounded->getNextNode());
          narrow = b.CreateExtractElement(wordOf(b, rounded, /*isUpper=*/false), uint64_t(0));
        }
        user->replaceUsesOfWith(rounded, narrow);
      }
    if (rounded->use_empty())
      rounded->eraseFromParent();
    count += wide || narrow;
  }
  return count;
}

} // namespace tenon::compiler::codegen
