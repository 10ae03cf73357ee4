// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a reduction does with each element, taken apart: the part that does not know the accumulator (computed for every
// element, in any order) and the combiner, one associative operation of the accumulator and what was computed.
//
//   ^bb0(%x: f16, %sum: f32):
//     %wide = arith.extf %x        } contributed
//     %square = arith.mulf %wide   }
//     %next = arith.addf %sum, %square   the combiner: addf
//
// Such a reduction may be summed by many threads: each combines its own elements, then the threads' accumulators are
// combined by the same operation. A body that is not of this form is computed by one thread, in order.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace tenon::compiler::dispatch {

enum class Combiner : uint8_t {
  AddF,
  AddI,
  MulF,
  MulI,
  MaximumF,
  MinimumF, // a NaN anywhere is the result
  MaxNumF,
  MinNumF, // a NaN is ignored
  MaxS,
  MaxU,
  MinS,
  MinU,
  And,
  Or,
  Xor,
};

struct Accumulator {
  Combiner combiner;
  mlir::Value contributed;    // of the body, or a block argument, or a value from outside
  mlir::Operation *operation; // that combines
};

/// The accumulators of `op`, in the order of its results; nothing where one of them is not of the form above.
std::optional<llvm::SmallVector<Accumulator>> reductionBodyOf(mlir::linalg::GenericOp op);

/// Whether a value of the body is computed from an accumulator. `known`: what has been asked before.
bool knowsAccumulator(mlir::Value value, mlir::linalg::GenericOp op, llvm::SmallDenseMap<mlir::Value, bool> &known);

/// Of a body of two values that only combines them, by an associative operation.
std::optional<Combiner> combinerOf(mlir::Block &body);

/// combine(neutral, x) is x.
mlir::TypedAttr neutralOf(mlir::OpBuilder &b, Combiner combiner, mlir::Type type);

/// In which type elements are combined: sums and products of f16 and bf16 are kept in f32.
mlir::Type accumulatorType(Combiner combiner, mlir::Type element);

/// The sum of `sum` and `value`, which is widened to its type, by the accumulator's operation.
mlir::Value combineBy(mlir::OpBuilder &b, mlir::Location loc, const Accumulator &accumulator, mlir::Value sum,
                      mlir::Value value);

/// Whether `op` reduces by such a body and reads each element of some tensor once. Contractions (matmul) and windows
/// (convolution, pooling) read elements many times over: they are no matter of combining threads' sums.
bool isTreeReduction(mlir::linalg::GenericOp op);

} // namespace tenon::compiler::dispatch
