// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/written_kernels.h"

#include "compiler/codegen/decisions/early_launches.h"
#include "compiler/codegen/emit_kernel.h"
#include "compiler/codegen/ptx/lower_to_llvm.h"
#include "compiler/codegen/ptx/rewrites/early_launch.h"
#include "compiler/codegen/ptx/rewrites/fast_math.h"
#include "compiler/codegen/ptx/rewrites/widen_f8.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace tenon::compiler::codegen {

/// Gives every function a place in the source, without which LLVM drops those of its operations.
static LogicalResult addLineInfo(ModuleOp module) {
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  manager.addPass(LLVM::createDIScopeForLLVMFuncOpPass({LLVM::DIEmissionKind::DebugDirectivesOnly}));
  return manager.run(module);
}

FailureOr<OwningOpRef<ModuleOp>> writeKernels(ModuleOp kernels, const abi::TargetArch &target,
                                              const PtxOptions &options) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernels.getLoc());
  for (Operation &op : *kernels.getBody()) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function || function.isExternal())
      return op.emitError() << "only kernel functions with a body are supported in a module of device code";
    FailureOr<KernelFunction> kernel = KernelFunction::read(function);
    if (failed(kernel) || failed(emitKernel(*kernel, function.getName(), target, *module)))
      return failure();
  }
  for (auto function : kernels.getOps<func::FuncOp>())
    if (auto most = function->getAttrOfType<IntegerAttr>(kEarlyLaunchAttr))
      launchNextEarly(module->lookupSymbol<LLVM::LLVMFuncOp>(function.getName()), uint32_t(most.getInt()));
  if (options.fastMath)
    allowFastMath(*module);
  widenF8(*module, hasF8(target));
  return std::move(module);
}

LogicalResult lowerWritten(ModuleOp written, const PtxOptions &options) {
  if (failed(lowerToLlvm(written)))
    return failure();
  return success(!options.lineInfo || succeeded(addLineInfo(written)));
}

} // namespace tenon::compiler::codegen
