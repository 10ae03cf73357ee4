// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-lsp: MLIR's language server with Tenon's dialects, for editors: diagnostics, definitions, uses, what a name is.
#include "compiler/bridge/llvm_errors.h"
#include "compiler/pipeline.h"
#include "support/memory.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  tenon::reportMissingMemory("tenon-lsp");
  tenon::compiler::bridge::reportLlvmErrors("tenon-lsp");
  mlir::DialectRegistry registry;
  tenon::compiler::registerPipelineDialects(registry);
  return mlir::succeeded(mlir::MlirLspServerMain(argc, argv, registry)) ? 0 : 1;
}
