// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules that were planned for one kind of targets each become one again: it has every kind's functions, and
// executables that are alike once, for all targets that launch them.
#pragma once

#include "compiler/editions/target_kinds.h"

namespace tenon::compiler::editions {

struct Planned {
  TargetKind kind;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// @param module what was planned for the first kind, with restrictTo(). The others are taken apart. An edition whose
/// functions do what the module's do is none.
/// @param devices what said which targets the module is for
mlir::LogicalResult mergeEditions(mlir::ModuleOp module, llvm::ArrayRef<hal::ExecutableTargetAttr> kind,
                                  llvm::MutableArrayRef<Planned> others, mlir::Attribute devices);

} // namespace tenon::compiler::editions
