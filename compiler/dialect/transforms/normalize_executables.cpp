// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Users have declared kernels in several ways over the years. Everything after this pass sees one of them; the steps
// below, in order, take the others to it.
#include "abi/arch_spelling.h"
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/hal/default_targets.h"
#include "compiler/dialect/transforms/Passes.h"
#include "compiler/dialect/transforms/normalize.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace tenon::compiler {

#define GEN_PASS_DEF_NORMALIZEEXECUTABLES
#include "compiler/dialect/transforms/Passes.h.inc"

namespace {

struct NormalizeExecutables : impl::NormalizeExecutablesBase<NormalizeExecutables> {
  using NormalizeExecutablesBase::NormalizeExecutablesBase;

  void runOnOperation() override {
    SmallVector<hal::ExecutableTargetAttr> fallback;
    if (failed(readTargets(fallback)) || failed(run(getOperation(), fallback)))
      signalPassFailure();
  }

private:
  static LogicalResult run(ModuleOp module, ArrayRef<hal::ExecutableTargetAttr> fallback) {
    // What is not compiled yet is named and refused, never dropped.
    if (failed(refuseUnsupported(module)))
      return failure();
    // A kernel declared at its only use moves to a declaration of its own.
    if (failed(hoistExterns(module)))
      return failure();
    // A list of variants becomes one source with objects for each target.
    if (failed(mergeVariants(module)))
      return failure();
    // Ordinals and block sizes are written out.
    if (failed(completeExports(module)))
      return failure();
    // Objects are listed under the exact targets that they serve.
    return resolveObjects(module, fallback);
  }

  LogicalResult readTargets(SmallVectorImpl<hal::ExecutableTargetAttr> &fallback) {
    if (targets.empty())
      for (abi::TargetArch arch : kDefaultTargets)
        fallback.push_back(cudaTarget(&getContext(), arch));
    for (const std::string &name : targets) {
      std::optional<abi::TargetArch> arch = abi::parseTargetArch(name);
      if (!arch || !abi::findArch(*arch))
        return getOperation().emitError()
               << "target architecture '" << name << "' is unknown: " << abi::archAdvice(name);
      fallback.push_back(cudaTarget(&getContext(), *arch));
    }
    return success();
  }
};

} // namespace

} // namespace tenon::compiler
