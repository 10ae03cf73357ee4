// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One func.func to commands, registers and checks.
//
// Comes in: a function whose tensor work is flow.dispatch. Walks each block once, in order: scalars become registers,
// tensors become buffers (buffer_table.h), dispatches become commands. Dimensions that the program declares equal and
// the inputs may not have become checks, evaluated before anything of the block is launched. What nothing needs is
// dropped first. A function of several blocks becomes a list of them (block_graph.h).
#pragma once

#include "compiler/host/executable_table.h"
#include "compiler/host/program/program.h"
#include "compiler/host/scalars/constant_pool.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::host {

/// Every argument and result of `function` is a tensor or scalar that a program can hold. Each that is not is an error,
/// arguments at their own place, unless `excused` says that it would have become one.
mlir::LogicalResult verifySignature(
    mlir::func::FuncOp function, llvm::function_ref<bool(mlir::Type)> excused = [](mlir::Type) { return false; });

/// What functions name of the program.
struct ProgramTables {
  const ExecutableTable &executables;
  llvm::StringMap<uint32_t> globals; // into Program::globals
};

/// Lowers `function`, whose blocks are rewritten on the way (formBlocks). An operation or type that a program cannot
/// hold is an error at its place.
mlir::FailureOr<Function> lowerFunction(mlir::func::FuncOp function, const ProgramTables &tables,
                                        ConstantPool &constants);

} // namespace tenon::compiler::host
