// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/module_lowering.h"

#include "compiler/host/function_lowering.h"

namespace tenon::compiler::host {

mlir::FailureOr<Program> lowerModule(mlir::ModuleOp module, const ExecutableTable &table,
                                     std::vector<std::vector<uint8_t>> executables) {
  Program program;
  program.name = module.getSymName().value_or("module").str();
  program.executables = std::move(executables);
  ConstantPool constants;
  bool failed = false;
  for (mlir::Operation &op : *module.getBody()) {
    if (mlir::isa<hal::ExecutableSourceOp>(op))
      continue;
    auto function = mlir::dyn_cast<mlir::func::FuncOp>(op);
    if (!function) {
      op.emitOpError() << "is not supported here: a program is made of functions and executables";
      failed = true;
      continue;
    }
    if (!function.isPublic())
      continue;
    mlir::FailureOr<Function> lowered = lowerFunction(function, table, constants);
    if (mlir::failed(lowered))
      failed = true;
    else
      program.functions.push_back(std::move(*lowered));
  }
  if (failed)
    return mlir::failure();
  if (program.functions.empty())
    module.emitWarning() << "there is no public function, nothing can be called";
  program.constants = constants.take();
  return program;
}

} // namespace tenon::compiler::host
