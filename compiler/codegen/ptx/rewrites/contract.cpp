// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/contract.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace tenon::compiler::codegen {
namespace {

constexpr uint16_t kFirstWithHalf = 53, kFirstWithBfloat = 80; // fma.rn.f16, fma.rn.bf16

bool hasFusedMultiplyAdd(const Type *type, abi::TargetArch arch) {
  const Type *element = type->getScalarType();
  return element->isFloatTy() || element->isDoubleTy() || (element->isHalfTy() && arch.number >= kFirstWithHalf) ||
         (element->isBFloatTy() && arch.number >= kFirstWithBfloat);
}

bool isOperation(const Value *value, unsigned opcode) {
  const auto *instruction = dyn_cast<Instruction>(value);
  return instruction && instruction->getOpcode() == opcode;
}

/// The product that `value` is, perhaps with its sign changed.
BinaryOperator *productIn(Value *value) {
  if (isOperation(value, Instruction::FNeg))
    value = cast<Instruction>(value)->getOperand(0);
  return isOperation(value, Instruction::FMul) ? cast<BinaryOperator>(value) : nullptr;
}

bool areSquares(const Value *left, const Value *right) {
  return llvm::all_of(ArrayRef{left, right}, [](const Value *side) {
    return isOperation(side, Instruction::FMul) &&
           cast<Instruction>(side)->getOperand(0) == cast<Instruction>(side)->getOperand(1);
  });
}

/// The fused operation for `sum`, put before it; null where the rule does not take it.
Value *contracted(BinaryOperator &sum) {
  Value *left = sum.getOperand(0), *right = sum.getOperand(1);
  const bool isLeft = productIn(left) != nullptr;
  if (isLeft == (productIn(right) != nullptr) && !(sum.getOpcode() == Instruction::FAdd && areSquares(left, right)))
    return nullptr;
  Value *side = isLeft ? left : right, *addend = isLeft ? right : left;
  BinaryOperator *product = productIn(side);
  if (!product->hasOneUse() || !side->hasOneUse())
    return nullptr;
  IRBuilder<> builder(&sum);
  Value *factor = product->getOperand(0);
  const bool isDifference = sum.getOpcode() == Instruction::FSub;
  if ((side != product) != (isDifference && !isLeft))
    factor = builder.CreateFNeg(factor);
  if (isDifference && isLeft)
    addend = builder.CreateFNeg(addend);
  return builder.CreateIntrinsic(Intrinsic::fma, {sum.getType()}, {factor, product->getOperand(1), addend});
}

} // namespace

unsigned contractProducts(Module &device, abi::TargetArch arch) {
  unsigned count = 0;
  for (Function &function : device)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      const unsigned opcode = instruction.getOpcode();
      if ((opcode != Instruction::FAdd && opcode != Instruction::FSub) ||
          !hasFusedMultiplyAdd(instruction.getType(), arch))
        continue;
      Value *fused = contracted(cast<BinaryOperator>(instruction));
      if (!fused)
        continue;
      instruction.replaceAllUsesWith(fused);
      instruction.eraseFromParent(); // the product is left to dead code elimination
      ++count;
    }
  return count;
}

} // namespace tenon::compiler::codegen
