// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/fast_math.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace tenon::compiler::codegen {

void allowFastMath(ModuleOp module) {
  using arith::FastMathFlags;
  constexpr FastMathFlags kAllowed =
      FastMathFlags::nsz | FastMathFlags::arcp | FastMathFlags::contract | FastMathFlags::afn;
  module.walk([](arith::ArithFastMathInterface op) {
    const FastMathFlags flags = op.getFastMathFlagsAttr() ? op.getFastMathFlagsAttr().getValue() : FastMathFlags::none;
    op->setAttr(op.getFastMathAttrName(), arith::FastMathFlagsAttr::get(op->getContext(), flags | kAllowed));
  });
}

void flushDenormals(llvm::Module &device) {
  for (llvm::Function &function : device)
    if (!function.isDeclaration())
      function.addFnAttr("denormal-fp-math-f32", "preserve-sign,preserve-sign");
}

} // namespace tenon::compiler::codegen
