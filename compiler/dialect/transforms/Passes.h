// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of compiler/dialect, and their registration for tenon-opt.
#pragma once

#include "mlir/Pass/Pass.h"

namespace tenon::compiler {

#define GEN_PASS_DECL
#include "compiler/dialect/transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/dialect/transforms/Passes.h.inc"

} // namespace tenon::compiler
