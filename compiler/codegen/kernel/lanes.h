// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the lanes of a point hold: adjacent positions of the vector axis, computed side by side by one thread. How the
// values of neighbours differ decides how memory is read at them: an index that grows by one from lane to lane names
// adjacent elements, which one load takes.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace tenon::compiler::codegen {

enum class Order {
  Same,  // for all lanes
  Run,   // one more than the lane before
  Steps, // as the lane before, or one more: a run that is clamped to the ends of a tensor
  Any
};

struct Lanes {
  llvm::SmallVector<mlir::Value> values; // one for all lanes, or one for each
  Order order = Order::Any;

  static Lanes same(mlir::Value value) { return {{value}, Order::Same}; }
  bool isSame() const { return order == Order::Same; }
  bool isRun() const { return order == Order::Run || order == Order::Steps; }
  mlir::Value operator[](unsigned lane) const { return values[isSame() ? 0 : lane]; }
  mlir::Value last() const { return values.back(); }
};

/// How the result of an operation of a body differs from lane to lane, by how its operands do.
Order orderOf(mlir::Operation &op, llvm::ArrayRef<Lanes> operands);

/// Whether the lanes for which a comparison, or several that all must hold, is true are neighbours: it is true for all
/// of them where it is for the first and for the last.
bool holdsBetween(mlir::Value condition, llvm::function_ref<Lanes(mlir::Value)> lanesOf);

} // namespace tenon::compiler::codegen
