// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-print-ptx (Passes.td), for tests of the code generator alone.
#include "compiler/codegen/Passes.h"
#include "compiler/codegen/generate_ptx.h"
#include "compiler/dialect/hal/HalDialect.h"

using namespace mlir;

namespace tenon::compiler::codegen {

#define GEN_PASS_DEF_PRINTPTX
#include "compiler/codegen/Passes.h.inc"

namespace {

struct PrintPtx : impl::PrintPtxBase<PrintPtx> {
  using PrintPtxBase::PrintPtxBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerKernelDialects(registry);
    registry.insert<hal::HalDialect>(); // types of tensor maps
  }

  void runOnOperation() override {
    std::optional<abi::TargetArch> arch = abi::parseTargetArch(target.getValue());
    if (!arch || !abi::findArch(*arch)) {
      getOperation().emitError() << "unknown target '" << target.getValue()
                                 << "'; known targets: " << abi::knownArchList();
      return signalPassFailure();
    }
    const PtxOptions options{.cudaPath = cudaPath,
                             .contractProducts = contract,
                             .fastMath = fastMath,
                             .lineInfo = lineInfo,
                             .waitsForEarlierLaunches = true};
    FailureOr<OwningOpRef<ModuleOp>> kernels = lowerKernels(getOperation(), *arch, options);
    if (failed(kernels))
      return signalPassFailure();
    FailureOr<std::string> ptx = emitPtx(**kernels, *arch, ptxOptionsFor(**kernels, *arch, options));
    if (failed(ptx))
      return signalPassFailure();
    llvm::outs() << *ptx;
  }
};

} // namespace

} // namespace tenon::compiler::codegen
