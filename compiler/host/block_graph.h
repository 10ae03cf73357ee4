// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function with branches as blocks that compute with nothing but what they are handed.
//
//   ^entry(%n):                          block 0 (%n)        -> block 1 (0, %n)
//     %c0 = arith.constant 0             block 1 (%i, %n)    -> i < n: block 2 (%i, %n), else block 3 (%i)
//     cf.br ^head(%c0)                   block 2 (%i, %n)    ...
//   ^head(%i): ... uses %n               block 3 (%i)        returns
//
// A value that another block reads becomes a parameter of it and of every block in between. Constants and empty tensors
// are made where they are read instead. A block ends where a value is read back from the device: what computes with it
// is another block. Globals are loaded when a block begins and stored when it ends.
#pragma once

#include "compiler/dialect/util/UtilOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::compiler::host {

struct HostBlock {
  mlir::Block *block = nullptr;
  llvm::SmallVector<mlir::Value> parameters;     // the block's arguments, then values of other blocks
  llvm::SmallVector<util::GlobalLoadOp> loads;   // at most one of each global; their results are inputs
  llvm::SmallVector<util::GlobalStoreOp> stores; // likewise; done when the block ends
};

/// Whether the function has branches, reads values back or uses globals: then it is lowered block by block.
bool needsBlocks(mlir::func::FuncOp function);

/// Brings `function` into the form above. The first is the entry.
llvm::SmallVector<HostBlock> formBlocks(mlir::func::FuncOp function);

} // namespace tenon::compiler::host
