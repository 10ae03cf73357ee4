// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The targets that kernels of a module are generated for: those that it names, or the usual ones.
#pragma once

#include "compiler/dialect/hal/HalAttrs.h"

#include "abi/target_arch.h"

#include "mlir/IR/BuiltinOps.h"

namespace tenon::compiler::codegen {

struct Target {
  hal::ExecutableTargetAttr key;
  abi::TargetArch arch;
};

/// An error at the module where it names a target that is none.
mlir::FailureOr<llvm::SmallVector<Target>> findTargets(mlir::ModuleOp module);

} // namespace tenon::compiler::codegen
