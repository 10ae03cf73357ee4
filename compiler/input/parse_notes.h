// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MLIR's parser knows an operation or does not. A user wants to know what is read here, and what to do with the rest.
#pragma once

#include "mlir/IR/Diagnostics.h"

namespace tenon::compiler::input {

/// While it lives, parse errors about operations and attributes that are not known get a note.
class ParseNotes : public mlir::ScopedDiagnosticHandler {
public:
  explicit ParseNotes(mlir::MLIRContext *context);
};

} // namespace tenon::compiler::input
