// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A module to a program: every public function lowered (function_lowering.h), the constants they share, the linked
// executables they dispatch to.
#pragma once

#include "compiler/host/executable_table.h"
#include "compiler/host/program/program.h"

#include "mlir/IR/BuiltinOps.h"

namespace tenon::compiler::host {

/// @param executables TNX1 buffers, numbered as `executableTable` says
/// Errors of all functions are reported before it fails. A module that offers no function is warned about.
mlir::FailureOr<Program> lowerModule(mlir::ModuleOp module, const ExecutableTable &executableTable,
                                     std::vector<std::vector<uint8_t>> executables);

} // namespace tenon::compiler::host
