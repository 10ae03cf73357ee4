// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-generate-kernels (Passes.td): the kernel functions of each executable, lowered once and printed per target.
#include "compiler/codegen/Passes.h"
#include "compiler/codegen/generate_ptx.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/hal/default_target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace tenon::compiler::codegen {

#define GEN_PASS_DEF_GENERATEKERNELS
#include "compiler/codegen/Passes.h.inc"

namespace {

struct Target {
  hal::ExecutableTargetAttr key;
  abi::TargetArch arch;
};

FailureOr<SmallVector<Target>> findTargets(ModuleOp module) {
  SmallVector<Target> targets;
  for (hal::ExecutableTargetAttr key : targetsOf(module, cudaTarget(module.getContext(), kDefaultTarget))) {
    FailureOr<abi::TargetArch> arch = targetArchOf(key, [&] { return module.emitError(); });
    if (failed(arch))
      return failure();
    targets.push_back({key, *arch});
  }
  return targets;
}

hal::ExecutableObjectAttr objectOf(MLIRContext *context, const std::string &name, StringRef bytes) {
  auto type = VectorType::get(int64_t(bytes.size()), IntegerType::get(context, 8));
  auto data = DenseElementsAttr::getFromRawBuffer(type, ArrayRef<char>(bytes.data(), bytes.size()));
  return hal::ExecutableObjectAttr::get(context, StringAttr::get(context, "<generated>/" + name + ".ptx"), data);
}

struct GenerateKernels : impl::GenerateKernelsBase<GenerateKernels> {
  using GenerateKernelsBase::GenerateKernelsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<hal::HalDialect, func::FuncDialect, linalg::LinalgDialect>();
    registerKernelDialects(registry);
  }

  void runOnOperation() override {
    FailureOr<SmallVector<Target>> targets = findTargets(getOperation());
    if (failed(targets))
      return signalPassFailure();
    for (auto source : getOperation().getOps<hal::ExecutableSourceOp>())
      if (failed(generate(source, *targets)))
        return signalPassFailure();
  }

private:
  LogicalResult generate(hal::ExecutableSourceOp source, ArrayRef<Target> targets) {
    auto modules = llvm::to_vector(source.getBody().front().getOps<ModuleOp>());
    if (modules.empty())
      return success();
    if (modules.size() > 1)
      return modules[1].emitError() << "a source of device code may hold one module";
    const bool isFallback = modules.front()->hasAttr(kFallbackAttr);
    if (source.getObjectsAttr() && !isFallback)
      return source.emitError() << "'" << source.getSymName()
                                << "' has both objects and a module of device code, which is not supported";
    FailureOr<OwningOpRef<ModuleOp>> kernels = lowerKernels(modules.front());
    if (failed(kernels))
      return failure();
    SmallVector<Attribute> keys, objects;
    for (const Target &target : targets) {
      FailureOr<std::string> ptx = emitPtx(**kernels, target.arch, {cudaPath});
      if (failed(ptx))
        return failure();
      const std::string name = source.getSymName().str() + (isFallback ? "_fallback_" : "_") + target.arch.toString();
      keys.push_back(target.key);
      objects.push_back(ArrayAttr::get(&getContext(), objectOf(&getContext(), name, *ptx)));
    }
    auto generated = hal::ExecutableObjectsAttr::get(&getContext(), ArrayAttr::get(&getContext(), keys),
                                                     ArrayAttr::get(&getContext(), objects));
    if (isFallback)
      source->setAttr(kFallbackObjectsAttr, generated);
    else
      source.setObjectsAttr(generated);
    modules.front().erase();
    return success();
  }
};

} // namespace

} // namespace tenon::compiler::codegen
