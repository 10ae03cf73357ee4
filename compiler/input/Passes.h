// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of compiler/input, and their registration for tenon-opt.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tenon::compiler::input {

#define GEN_PASS_DECL
#include "compiler/input/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/input/Passes.h.inc"

/// Whether the module has operations of TOSA, so that tenon-read-tosa has something to do.
bool hasTosa(mlir::ModuleOp module);

} // namespace tenon::compiler::input
