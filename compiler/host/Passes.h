// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of compiler/host, and their registration for tenon-opt. Passes.td describes each.
#pragma once

#include "mlir/Pass/Pass.h"

namespace tenon::compiler::host {

#define GEN_PASS_DECL
#include "compiler/host/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/host/Passes.h.inc"

} // namespace tenon::compiler::host
