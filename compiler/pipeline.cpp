// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline.h"

#include "compiler/bridge/dump.h"
#include "compiler/bridge/link_executables.h"
#include "compiler/codegen/passes.h"
#include "compiler/dialect/Dialects.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/transforms/Passes.h"
#include "compiler/dispatch/passes.h"
#include "compiler/host/module_lowering.h"
#include "compiler/host/passes.h"
#include "compiler/host/program/program_writer.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace tenon::compiler {
namespace {

mlir::LogicalResult runPasses(mlir::ModuleOp module, const CompileOptions &options,
                              llvm::function_ref<void(mlir::PassManager &)> add) {
  mlir::PassManager manager(module.getContext(), mlir::ModuleOp::getOperationName());
  if (options.printIrAfterAll)
    manager.enableIRPrinting([](mlir::Pass *, mlir::Operation *) { return false; },
                             [](mlir::Pass *, mlir::Operation *) { return true; });
  add(manager);
  return manager.run(module);
}

/// Reports a Status of the layers below MLIR at the module.
mlir::LogicalResult check(mlir::ModuleOp module, Status status) {
  if (status.ok())
    return mlir::success();
  return mlir::emitError(mlir::UnknownLoc::get(module.getContext())) << std::string(status.message());
}

/// --target, as tenon-normalize-executables takes it.
NormalizeExecutablesOptions targetOptions(mlir::ModuleOp module, const CompileOptions &options) {
  if (!options.targets.empty() && !targetsOf(module).empty())
    module.emitWarning() << "--target has no effect: the module names its targets";
  NormalizeExecutablesOptions result;
  for (abi::TargetArch arch : options.targets)
    result.targets.push_back(arch.toString());
  return result;
}

} // namespace

void registerPipelineDialects(mlir::DialectRegistry &registry) {
  registerDialects(registry);
}

mlir::FailureOr<CompiledProgram> compileModule(mlir::ModuleOp module, const CompileOptions &options) {
  mlir::LogicalResult prepared = runPasses(module, options, [&](mlir::PassManager &manager) {
    // Every way to declare a kernel becomes one: hal.executable.source, with objects for each target.
    manager.addPass(createNormalizeExecutables(targetOptions(module, options)));
    // Calls of private functions become their bodies.
    manager.addPass(host::createInlineCallsPass());
    // Functions that stand in for a hand-written kernel become kernels of its ABI beside it.
    manager.addPass(dispatch::createFormFallbacksPass());
    // Tensor code becomes dispatches of executables that hold it as kernel functions.
    manager.addPass(dispatch::createFormDispatchesPass());
  });
  if (mlir::failed(prepared))
    return mlir::failure();

  if (!options.dumpSources.empty() && mlir::failed(check(module, bridge::dumpSources(module, options.dumpSources))))
    return mlir::failure();

  mlir::LogicalResult generated = runPasses(module, options, [&](mlir::PassManager &manager) {
    // Kernel functions become PTX, once for each target.
    manager.addPass(codegen::createGenerateKernelsPass({.cudaPath = options.cudaPath}));
  });
  if (mlir::failed(generated))
    return mlir::failure();
  if (!options.dumpKernels.empty() && mlir::failed(check(module, bridge::dumpKernels(module, options.dumpKernels))))
    return mlir::failure();

  // The linker proves every object against its declaration and makes the executables.
  mlir::FailureOr<bridge::LinkedModule> linked = bridge::linkExecutables(module, options.objects, options.link);
  if (mlir::failed(linked))
    return mlir::failure();
  if (!options.dumpBinaries.empty() && mlir::failed(check(module, bridge::dumpBinaries(*linked, options.dumpBinaries))))
    return mlir::failure();

  // Functions become commands, registers and checks; tensors become buffers.
  mlir::FailureOr<host::Program> program = host::lowerModule(module, linked->table, std::move(linked->executables));
  if (mlir::failed(program))
    return mlir::failure();

  // One FlatBuffer, verified as a loader would.
  Result<std::vector<uint8_t>> bytes = host::writeProgram(*program);
  if (!bytes.ok()) {
    (void)check(module, bytes.takeStatus());
    return mlir::failure();
  }
  return CompiledProgram{bytes.take(), std::move(linked->inputFiles)};
}

} // namespace tenon::compiler
