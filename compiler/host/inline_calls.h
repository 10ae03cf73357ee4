// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of private functions are replaced by the bodies of their callees, and the private functions dropped: a function
// of a program is a list of commands, which has no call.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tenon::compiler::host {

/// Inlines every func.call of the module's functions, then erases private functions but those that are fallbacks of
/// exports (`tenon.fallback`), which become kernels. Errors, at the call: the callee
/// has no body, calls itself (directly or through others), has control flow, or inlining would
/// make more than a million operations of the module.
mlir::LogicalResult inlineCalls(mlir::ModuleOp module);

} // namespace tenon::compiler::host
