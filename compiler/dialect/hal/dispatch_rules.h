// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules that tie a dispatch to the declaration of its kernel, for flow.dispatch and hal.dispatch.extern alike. By
// position: tensor arguments, then untied results, are the bindings; scalars are the constants.
#pragma once

#include "compiler/dialect/hal/HalAttrs.h"

#include "mlir/IR/Operation.h"

namespace tenon::compiler {

struct DispatchShape {
  mlir::TypeRange arguments, results;
  llvm::ArrayRef<int64_t> tied; // per result the index of its argument, or -1; empty: none is tied
  unsigned workload = 0;        // number of workload values
  unsigned argumentDims = 0, resultDims = 0;

  std::optional<unsigned> tiedTo(unsigned result) const;
};

/// What holds for any dispatch: tensors and known scalars only, at least one result, results are tensors, as many
/// dynamic dimensions as the types have, ties to distinct tensor arguments of the same size.
mlir::LogicalResult verifyDispatchShape(mlir::Operation *op, const DispatchShape &shape);

/// What is passed against the layout of export `name`: number of bindings and constants, types of constants, nothing
/// written through a ReadOnly binding. Reports every violation, each with a note at the declaration.
mlir::LogicalResult verifyOperandsAgainst(mlir::Operation *op, const DispatchShape &shape, llvm::StringRef name,
                                          hal::PipelineLayoutAttr layout, mlir::Location declaredAt);

/// What the dispatch must share with the declaration of export `name` at `declaredAt`: its operands, and as many
/// workload values as `count` takes.
mlir::LogicalResult verifyDispatchAgainst(mlir::Operation *op, const DispatchShape &shape, llvm::StringRef name,
                                          hal::PipelineLayoutAttr layout, mlir::Region &count,
                                          mlir::Location declaredAt);

} // namespace tenon::compiler
