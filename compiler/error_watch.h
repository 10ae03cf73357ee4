// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whoever fails says why. A rewriter of MLIR's that gives up does not, and a tool that ends without a word leaves its
// user with nothing to look for: then the name of the phase is said.
#pragma once

#include "compiler/compile_report.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

#include <atomic>

namespace tenon::compiler {

/// Sees the errors of a module's context while it lives, on any thread, and leaves them to those who print them.
class ErrorWatch {
public:
  explicit ErrorWatch(mlir::ModuleOp module);

  /// Of work on the module that failed: an error that names the last phase of `report`, where nobody emitted one.
  mlir::LogicalResult fail(const CompileReport &report);

private:
  mlir::ModuleOp module_;
  std::atomic<bool> hasError_ = false;
  mlir::ScopedDiagnosticHandler handler_;
};

} // namespace tenon::compiler
