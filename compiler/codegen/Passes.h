// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of compiler/codegen, and their registration for tenon-opt. Passes.td describes each.
#pragma once

#include "mlir/Pass/Pass.h"

namespace tenon::compiler::codegen {

#define GEN_PASS_DECL
#include "compiler/codegen/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/codegen/Passes.h.inc"

} // namespace tenon::compiler::codegen
