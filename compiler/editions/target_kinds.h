// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which targets of a program are planned together. A launch has one grid and one size of shared memory for all targets
// that share a plan, and some plans are worth more than that: Hopper's own kernels have tiles that no other device
// holds.
#pragma once

#include "compiler/dialect/hal/HalAttrs.h"

#include "mlir/IR/BuiltinOps.h"

namespace tenon::compiler::editions {

using TargetKind = llvm::SmallVector<hal::ExecutableTargetAttr>;

/// Targets that are planned together; the last are the most specific. One kind, of all targets: where nothing in the
/// module is planned by target, or a user has said how a kernel is to be computed, which some target must then do.
llvm::SmallVector<TargetKind> kindsOf(mlir::ModuleOp module);

/// From here on the module is for one kind of its targets.
void restrictTo(mlir::ModuleOp module, llvm::ArrayRef<hal::ExecutableTargetAttr> kind);

/// "sm_75_sm_80".
std::string nameOf(llvm::ArrayRef<hal::ExecutableTargetAttr> kind);

} // namespace tenon::compiler::editions
