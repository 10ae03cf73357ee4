// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/generate_ptx.h"

#include "compiler/codegen/ptx/rewrites/widen_f8.h"
#include "compiler/codegen/ptx/same_code.h"
#include "compiler/codegen/strategies/strategies.h"
#include "compiler/codegen/written_kernels.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tenon::compiler::codegen {

static unsigned variantFor(func::FuncOp function, const abi::TargetArch &target) {
  auto plan = function->getAttrOfType<DictionaryAttr>(dispatch::kStrategyAttr);
  auto name = plan ? plan.getAs<StringAttr>("name") : StringAttr();
  const Strategy *strategy = name ? strategyNamed(name) : nullptr;
  const unsigned variant = strategy ? strategy->variantFor(target) : 0;
  return variant != 0 && strategy->isWrittenForAny(function, target) ? 0 : variant;
}

unsigned kernelVariantFor(ModuleOp kernels, const abi::TargetArch &target) {
  unsigned variant = 0;
  for (auto function : kernels.getOps<func::FuncOp>())
    variant = std::max(variant, variantFor(function, target));
  return readsF8(kernels) ? 2 * variant + hasF8(target) : variant;
}

FailureOr<OwningOpRef<ModuleOp>> lowerKernels(ModuleOp kernels, const abi::TargetArch &target,
                                              const PtxOptions &options) {
  FailureOr<OwningOpRef<ModuleOp>> module = writeKernels(kernels, target, options);
  if (failed(module) || failed(lowerWritten(**module, options)))
    return failure();
  return module;
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
