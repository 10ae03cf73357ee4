// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/pair_sums.h"

#include "mlir/Support/LLVM.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace tenon::compiler::codegen {
namespace {

bool isPairSum(const Instruction &instruction) {
  const unsigned opcode = instruction.getOpcode();
  auto *type = dyn_cast<FixedVectorType>(instruction.getType());
  return (opcode == Instruction::Add || opcode == Instruction::Sub) && type && type->getElementType()->isIntegerTy(16);
}

} // namespace

unsigned splitPairSums(Module &device) {
  SmallVector<BinaryOperator *> found;
  for (Function &function : device)
    for (Instruction &instruction : instructions(function))
      if (isPairSum(instruction))
        found.push_back(cast<BinaryOperator>(&instruction));
  for (BinaryOperator *op : found) {
    IRBuilder<> builder(op);
    Value *all = PoisonValue::get(op->getType());
    for (unsigned lane = 0, lanes = cast<FixedVectorType>(op->getType())->getNumElements(); lane < lanes; ++lane) {
      auto of = [&](unsigned operand) { return builder.CreateExtractElement(op->getOperand(operand), lane); };
      all = builder.CreateInsertElement(all, builder.CreateBinOp(op->getOpcode(), of(0), of(1)), lane);
    }
    op->replaceAllUsesWith(all);
    op->eraseFromParent();
  }
  return found.size();
}

} // namespace tenon::compiler::codegen
