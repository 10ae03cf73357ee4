// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of compiler/dispatch, and their registration for tenon-opt. Passes.td describes each.
#pragma once

#include "mlir/Pass/Pass.h"

namespace tenon::compiler::dispatch {

#define GEN_PASS_DECL
#include "compiler/dispatch/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/dispatch/Passes.h.inc"

} // namespace tenon::compiler::dispatch
