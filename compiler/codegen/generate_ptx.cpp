#include "compiler/codegen/generate_ptx.h"

#include "compiler/codegen/emit_kernel.h"
#include "compiler/codegen/lower_to_llvm.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tenon::compiler::codegen {

FailureOr<OwningOpRef<ModuleOp>> lowerKernel(func::FuncOp function) {
  FailureOr<KernelFunction> kernel = KernelFunction::read(function);
  if (failed(kernel))
    return failure();
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  if (failed(emitKernel(*kernel, function.getName(), *module)) || failed(lowerToLlvm(*module)))
    return failure();
  return std::move(module);
}

void registerKernelDialects(DialectRegistry &registry) {
  registry.insert<affine::AffineDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
  registerPtxTranslation(registry);
}

} // namespace tenon::compiler::codegen
