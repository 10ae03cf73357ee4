// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of the host side.
//
//   tenon-inline-calls   calls of private functions become their bodies (inline_calls.h)
#pragma once

#include <memory>

namespace mlir {
class Pass;
}

namespace tenon::compiler::host {

std::unique_ptr<mlir::Pass> createInlineCallsPass();

/// Makes the passes known to tenon-opt.
void registerHostPasses();

} // namespace tenon::compiler::host
