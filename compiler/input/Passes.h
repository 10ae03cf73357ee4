// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of compiler/input, and their registration for tenon-opt.
#pragma once

#include "mlir/Pass/Pass.h"

namespace tenon::compiler::input {

#define GEN_PASS_DECL
#include "compiler/input/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/input/Passes.h.inc"

} // namespace tenon::compiler::input
