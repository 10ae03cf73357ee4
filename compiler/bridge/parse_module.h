// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The module in a text, or an error: also where MLIR's parser itself would end the process.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

namespace tenon::compiler::bridge {

/// Parses the main buffer of `sources`; called on a thread with kStackBytes of stack (nesting.h). What is wrong goes to
/// the context's diagnostics, and the result is null.
/// @param crashed given: whether MLIR's parser came to an end by a signal
mlir::OwningOpRef<mlir::ModuleOp> parseModule(llvm::SourceMgr &sources, mlir::MLIRContext &context,
                                              bool *crashed = nullptr);

} // namespace tenon::compiler::bridge
