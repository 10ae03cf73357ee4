// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-lsp: MLIR's language server with Tenon's dialects, for editors: diagnostics, definitions, uses, what a name is.
#include "compiler/bridge/llvm_errors.h"
#include "compiler/pipeline.h"
#include "support/memory.h"
#include "support/process/command_line.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  tenon::reportMissingMemory("tenon-lsp");
  tenon::compiler::bridge::reportLlvmErrors("tenon-lsp");
  tenon::CommandLine line(
      "tenon-lsp", "[OPTION...]",
      "A language server of MLIR text with Tenon's dialects, for editors: diagnostics, definitions,\n"
      "uses, what a name is. An editor starts it and speaks the Language Server Protocol with it on\n"
      "standard input and output. --help lists the options of MLIR's server.");
  line.versions(tenon::compiler::compilerVersions);
  if (const std::optional<int> status = line.parseQuestions(argc, argv))
    return *status;
  mlir::DialectRegistry registry;
  tenon::compiler::registerPipelineDialects(registry);
  return mlir::succeeded(mlir::MlirLspServerMain(argc, argv, registry)) ? 0 : 1;
}
