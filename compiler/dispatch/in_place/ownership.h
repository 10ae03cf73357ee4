// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which launches of a function may write over a tensor that they read.
//
// Tensors are values, so a launch may write over one where nobody can tell: the memory is the function's own, or was
// given up by its caller, and no path from the launch leads to someone who reads the old value. Memory is the
// function's own where a launch has made it. A value that a block is handed is owned if on every way into the block it
// is, and if it is handed to one parameter only: that of a loop is, where each round hands on what it has made of it.
// That is the largest set of parameters that agrees with itself.
//
// Expectations, elements that are read back and stores to globals look at tensors when the launches of their block are
// done, wherever in it they stand.
#pragma once

#include "compiler/dialect/flow/FlowOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

#include <string>

namespace tenon::compiler::dispatch {

class Ownership {
public:
  /// Of a function of blocks and branches whose tensor code is launches.
  explicit Ownership(mlir::func::FuncOp function);

  /// Empty: `launch` may write over `tensor`, which it reads. Else why not, in a few words.
  std::string whyNotOver(mlir::Value tensor, mlir::Operation *launch) const;
  /// The same of blocks behind the one that ends with `op`, which writes over an argument.
  std::string whyNotAtEndOver(mlir::Value argument, mlir::Operation *op) const;
  /// Whether nobody but the function holds the memory of the value, which has no other name.
  bool isOwned(mlir::Value root) const;

private:
  /// A name of a value where it is handed to a block.
  struct HandedOn {
    mlir::OpOperand *use;
    mlir::Block *to;
    unsigned parameter;
  };
  llvm::SmallVector<mlir::Value> namesOf(mlir::Value root) const;
  llvm::SmallVector<HandedOn> handedOn(mlir::Value root) const;
  /// In a variable, or in an argument that the function assigns it to.
  bool isStored(mlir::Value root) const;
  bool isReadFrom(mlir::Value root, mlir::Block *block) const;
  bool isReachable(mlir::Value root, mlir::Block *from, mlir::Block *to) const;
  bool hasTwoNames(mlir::Value root, mlir::Block *block) const;
  bool isOtherwiseHeld(mlir::Value root, mlir::Block *block) const;
  bool comesTwice(mlir::Value root, mlir::Block *block) const;
  bool isHandedOver(mlir::BlockArgument parameter) const;

  mlir::func::FuncOp function_;
  llvm::DenseSet<mlir::Value> shared_; // parameters of blocks
};

} // namespace tenon::compiler::dispatch
