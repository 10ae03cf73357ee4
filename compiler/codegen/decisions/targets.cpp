// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/decisions/targets.h"

#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/hal/default_targets.h"

using namespace mlir;

namespace tenon::compiler::codegen {

FailureOr<SmallVector<Target>> findTargets(ModuleOp module) {
  SmallVector<Target> targets;
  SmallVector<hal::ExecutableTargetAttr> fallback;
  for (abi::TargetArch arch : kDefaultTargets)
    fallback.push_back(cudaTarget(module.getContext(), arch));
  for (hal::ExecutableTargetAttr key : targetsOf(module, fallback)) {
    FailureOr<abi::TargetArch> arch = targetArchOf(key, [&] { return module.emitError(); });
    if (failed(arch))
      return failure();
    targets.push_back({key, *arch});
  }
  return targets;
}

} // namespace tenon::compiler::codegen
