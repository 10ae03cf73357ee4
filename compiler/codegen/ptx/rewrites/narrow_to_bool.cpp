// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/narrow_to_bool.h"

#include "mlir/Support/LLVM.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace tenon::compiler::codegen {
namespace {

bool isFloatToBool(const Instruction &instruction) {
  return isa<FPToSIInst, FPToUIInst>(instruction) && instruction.getType()->getScalarType()->isIntegerTy(1);
}

} // namespace

unsigned narrowToBool(Module &device) {
  SmallVector<CastInst *> casts;
  for (Function &function : device)
    for (Instruction &instruction : instructions(function))
      if (isFloatToBool(instruction))
        casts.push_back(cast<CastInst>(&instruction));
  for (CastInst *cast : casts) {
    IRBuilder<> builder(cast);
    Type *wide = cast->getType()->getWithNewBitWidth(32);
    Value *integer = builder.CreateCast(cast->getOpcode(), cast->getOperand(0), wide);
    cast->replaceAllUsesWith(builder.CreateTrunc(integer, cast->getType()));
    cast->eraseFromParent();
  }
  return casts.size();
}

} // namespace tenon::compiler::codegen
