// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions that choose one element of a row: argmax, argmin and their like.
//
//   ^bb0(%x: f32, %best: f32, %place: i64):
//     %better = arith.cmpf ogt, %x, %best : f32
//     %next = arith.select %better, %x, %best : f32
//     %there = arith.select %better, %here, %place : i64
//
// Accumulators that know each other are no sums of threads (reduction_body.h): these have a way of their own
// (choice_keys.h).
//
// A condition is understood where it compares the element with its accumulator and orders all elements, NaNs among
// them: they win against all numbers, or are never taken. The accumulator may also be the `arith.maximumf` of both,
// whose place is that of the best element before the first NaN. What is not understood is computed by one thread, in
// order.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace tenon::compiler::dispatch {

/// How a reduction chooses.
struct Choice {
  unsigned value;     // number of the accumulator that elements are compared with
  mlir::Value chosen; // of the body: what is compared, and becomes that accumulator
  bool isLargest;     // else the smallest
  bool isLast;        // of equal ones
  bool isUnsigned;    // integers are compared as
  bool takesNaN;      // before all numbers; else never
  bool endsAtNaN;     // it becomes the result, and nothing is chosen behind it
};
std::optional<Choice> choiceOf(mlir::linalg::GenericOp op);

} // namespace tenon::compiler::dispatch
