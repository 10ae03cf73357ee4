// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of dispatch formation.
//
//   tenon-form-fallbacks    functions that hand-written exports name as their fallback become kernels beside them
//   tenon-form-dispatches   tensor code of host functions becomes flow.dispatch of generated executables
#pragma once

#include <memory>

namespace mlir {
class Pass;
}

namespace tenon::compiler::dispatch {

std::unique_ptr<mlir::Pass> createFormFallbacksPass();
std::unique_ptr<mlir::Pass> createFormDispatchesPass();

/// Makes the passes known to tenon-opt.
void registerDispatchPasses();

} // namespace tenon::compiler::dispatch
