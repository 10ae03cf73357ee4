// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/passes.h"

#include "mlir/Pass/Pass.h"

namespace tenon::compiler::codegen {

void registerCodegenPasses() {
  mlir::registerPass([] { return createGenerateKernelsPass(); });
  mlir::registerPass(createPrintPtxPass);
}

} // namespace tenon::compiler::codegen
