// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps of tenon-read-input (Passes.td), in the order in which it takes them.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tenon::compiler::input {

/// Operations that text of other years has (dialect/OtherYears.h) become those of today.
mlir::LogicalResult readOtherYears(mlir::ModuleOp module);

/// Tensors of packed i1 become plain ones.
mlir::LogicalResult readPacked(mlir::ModuleOp module);

/// ml_program.global, its loads and stores become those of util.
mlir::LogicalResult readMlProgram(mlir::ModuleOp module);

/// util.global of type !hal.device becomes hal.device.targets; affinities to it go.
mlir::LogicalResult readDevices(mlir::ModuleOp module);

/// Names of dialects and attributes: operations and types of unknown dialects and misspelt attributes of ours are
/// errors, attributes of unknown dialects a remark for each dialect.
mlir::LogicalResult checkNames(mlir::ModuleOp module);

/// Values of more dimensions than a program holds are errors.
mlir::LogicalResult checkRanks(mlir::ModuleOp module);

/// #util.byte_pattern and #util.uninitialized become the elements that they stand for.
mlir::LogicalResult readBytePatterns(mlir::ModuleOp module);

/// Loads and stores through util.global.address become those that name the global.
mlir::LogicalResult readPointers(mlir::ModuleOp module);

/// util.global becomes constants, flow.tensor.constant and its like become arith.constant.
mlir::LogicalResult readGlobals(mlir::ModuleOp module);

/// flow.tensor.slice and its like become those of tensor.
mlir::LogicalResult readFlowTensors(mlir::ModuleOp module);

/// bufferization.alloc_tensor becomes tensor.empty.
mlir::LogicalResult readAllocations(mlir::ModuleOp module);

/// Loops of scf.forall become those of scf.for.
mlir::LogicalResult readForalls(mlir::ModuleOp module);

/// util.func, util.call and util.return become those of func.
mlir::LogicalResult readFunctions(mlir::ModuleOp module);

/// Fences go: of functions that take them, calls that pass them, and what waits for them.
mlir::LogicalResult readFences(mlir::ModuleOp module);

/// Functions of !hal.buffer_view become those of tensors.
mlir::LogicalResult readBufferViews(mlir::ModuleOp module);

/// What other compilers call arguments whose memory is given up becomes tenon.donated.
mlir::LogicalResult readDonations(mlir::ModuleOp module);

} // namespace tenon::compiler::input
