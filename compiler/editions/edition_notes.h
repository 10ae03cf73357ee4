// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What passes say while they plan a program once for each kind of its targets: what was said for an earlier kind is not
// said again, and what is said for a later one names its targets.
#pragma once

#include "mlir/IR/Diagnostics.h"

#include <set>
#include <string>

namespace tenon::compiler::editions {

class EditionNotes {
public:
  explicit EditionNotes(mlir::MLIRContext *context);

  /// What follows is said for another kind. @param targets "sm_90a"; empty: of the first one
  void begin(std::string targets);

private:
  mlir::LogicalResult handle(mlir::Diagnostic &diagnostic);

  std::string targets_;
  std::set<std::string> before_, now_; // said for earlier kinds, and for this one
  mlir::ScopedDiagnosticHandler handler_;
};

} // namespace tenon::compiler::editions
