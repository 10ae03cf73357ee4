// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-print-ptx: the PTX of a plain module of kernel functions, for tests of the code generator alone.
#include "compiler/codegen/generate_ptx.h"
#include "compiler/codegen/passes.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

struct PrintPtxPass : PassWrapper<PrintPtxPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintPtxPass)
  PrintPtxPass() = default;
  PrintPtxPass(const PrintPtxPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "tenon-print-ptx"; }
  StringRef getDescription() const override { return "print the PTX of a module of kernel functions"; }
  void getDependentDialects(DialectRegistry &registry) const override { registerKernelDialects(registry); }

  void runOnOperation() override {
    std::optional<abi::TargetArch> arch = abi::parseTargetArch(std::string(target));
    if (!arch || !abi::findArch(*arch)) {
      getOperation().emitError() << "unknown target '" << std::string(target)
                                 << "'; known targets: " << abi::knownArchList();
      return signalPassFailure();
    }
    FailureOr<OwningOpRef<ModuleOp>> kernels = lowerKernels(getOperation());
    if (failed(kernels))
      return signalPassFailure();
    FailureOr<std::string> ptx = emitPtx(**kernels, *arch, {cudaPath});
    if (failed(ptx))
      return signalPassFailure();
    llvm::outs() << *ptx;
  }

  Option<std::string> target{*this, "target", llvm::cl::desc("architecture"), llvm::cl::init("sm_80")};
  Option<std::string> cudaPath{*this, "cuda-path", llvm::cl::desc("root of a CUDA toolkit, for libdevice")};
};

} // namespace

std::unique_ptr<Pass> createPrintPtxPass() {
  return std::make_unique<PrintPtxPass>();
}

} // namespace tenon::compiler::codegen
