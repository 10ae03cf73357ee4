// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/generate_ptx.h"

#include "compiler/codegen/early_launches.h"
#include "compiler/codegen/emit_kernel.h"
#include "compiler/codegen/ptx/early_launch.h"
#include "compiler/codegen/ptx/fast_math.h"
#include "compiler/codegen/ptx/lower_to_llvm.h"
#include "compiler/codegen/ptx/same_code.h"
#include "compiler/codegen/ptx/widen_f8.h"
#include "compiler/codegen/strategies/strategies.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace tenon::compiler::codegen {

/// Gives every function a place in the source, without which LLVM drops those of its operations.
static LogicalResult addLineInfo(ModuleOp module) {
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  manager.addPass(LLVM::createDIScopeForLLVMFuncOpPass({LLVM::DIEmissionKind::DebugDirectivesOnly}));
  return manager.run(module);
}

unsigned kernelVariantFor(ModuleOp kernels, const abi::TargetArch &target) {
  unsigned variant = 0;
  for (auto function : kernels.getOps<func::FuncOp>())
    if (auto plan = function->getAttrOfType<DictionaryAttr>(dispatch::kStrategyAttr))
      if (auto name = plan.getAs<StringAttr>("name"))
        if (const Strategy *strategy = strategyNamed(name))
          variant = std::max(variant, strategy->variantFor(target));
  return readsF8(kernels) ? 2 * variant + hasF8(target) : variant;
}

FailureOr<OwningOpRef<ModuleOp>> lowerKernels(ModuleOp kernels, const abi::TargetArch &target,
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
  if (failed(lowerToLlvm(*module)))
    return failure();
  if (options.lineInfo && failed(addLineInfo(*module)))
    return failure();
  return std::move(module);
}

PtxOptions ptxOptionsFor(ModuleOp lowered, const abi::TargetArch &target, PtxOptions options) {
  if (options.waitsForEarlierLaunches)
    options.waits = waitsToWrite(lowered, target);
  return options;
}

void registerKernelDialects(DialectRegistry &registry) {
  registry
      .insert<affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect, math::MathDialect, scf::SCFDialect>();
  registerPtxTranslation(registry);
}

} // namespace tenon::compiler::codegen
