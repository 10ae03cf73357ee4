// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/module_lowering.h"

#include "compiler/host/function_lowering.h"

using namespace mlir;

namespace tenon::compiler::host {

FailureOr<Program> lowerModule(ModuleOp module, const ExecutableTable &table,
                               std::vector<std::vector<uint8_t>> executables) {
  Program program;
  program.name = module.getSymName().value_or("module").str();
  program.executables = std::move(executables);
  ConstantPool constants;
  bool ok = true;
  for (Operation &op : *module.getBody()) {
    if (isa<hal::ExecutableSourceOp>(op))
      continue;
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function) {
      op.emitOpError() << "is not supported here: a program is made of functions and executables";
      ok = false;
      continue;
    }
    if (!function.isPublic())
      continue;
    FailureOr<Function> lowered = lowerFunction(function, table, constants);
    if (failed(lowered))
      ok = false;
    else
      program.functions.push_back(std::move(*lowered));
  }
  if (!ok)
    return failure();
  if (program.functions.empty())
    module.emitWarning() << "there is no public function, nothing can be called";
  program.constants = constants.take();
  return program;
}

} // namespace tenon::compiler::host
