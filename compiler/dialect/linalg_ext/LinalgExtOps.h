// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations along a dimension. LinalgExtOps.td describes them.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/dialect/linalg_ext/LinalgExtDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/linalg_ext/LinalgExtAttrs.h.inc"
#define GET_OP_CLASSES
#include "compiler/dialect/linalg_ext/LinalgExtOps.h.inc"

namespace tenon::compiler::linalg_ext {

/// Of a table of rows by experts: their counts fit shared memory (codegen/along/route.cpp).
inline constexpr int64_t kMostExperts = 2048;

/// An operation along a dimension, which becomes kernels of its own: its operands end with `outs`, one for each result.
bool isAlongOp(mlir::Operation *op);
/// The operand that a result starts from and measures as.
mlir::OpOperand &initOf(mlir::Operation *op, unsigned result);
/// How many dimensions of `indices` count slices: all but the last, which holds `depth` coordinates; all of them where
/// the one coordinate has no dimension of its own. `mayOverlap`: slices may run along dimensions that are named.
int64_t batchRankOf(mlir::RankedTensorType indices, mlir::RankedTensorType slices, mlir::RankedTensorType whole,
                    int64_t depth, bool mayOverlap);
/// The number of the operand of an attention that is the scale, or the mask; none where there is none.
std::optional<unsigned> scaleOfAttention(mlir::ValueRange inputs);
std::optional<unsigned> maskOfAttention(mlir::ValueRange inputs);
/// On an attention: what its compiler is told of how to compute it, of which only the base of largest scores counts.
inline constexpr llvm::StringLiteral kDecompositionConfigAttr = "decomposition_config";
/// On a scatter that gets its updates' order as two more inputs (dispatch/sorted_scatters.h).
inline constexpr llvm::StringLiteral kSortedAttr = "tenon.sorted";
/// Whether slices of a scatter may begin anywhere along a dimension that they run along.
bool slicesMayOverlap(ScatterOp scatter);
/// The operation of the dialect whose region holds `op` itself; null where none does.
mlir::Operation *bodyOwner(mlir::Operation *op);

} // namespace tenon::compiler::linalg_ext
