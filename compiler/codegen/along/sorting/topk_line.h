// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A line of which a top-k takes the best, and where they go. Entries say where they stood: the first k positions are
// those of the elements that the result holds to begin with, which stand before all of the line.
#pragma once

#include "compiler/codegen/along/lines/lines.h"
#include "compiler/codegen/along/sorting/order.h"
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"

namespace tenon::compiler::codegen {

class TopkLine {
public:
  /// The line's number is not known yet.
  explicit TopkLine(AlongWriter &w);

  mlir::Value toPosition(mlir::Value number);
  mlir::Value toNumber(mlir::Value position);
  /// What the result holds to begin with.
  Entry startAt(mlir::Value place);
  /// The second result's element of a position.
  mlir::Value indexOf(mlir::Value position);
  /// Into the results.
  void give(mlir::Value place, const Entry &entry);

  linalg_ext::TopkOp op;
  ElementOrder order;
  Lines source, result;
  mlir::Value line;

private:
  AlongWriter &w_;
  KernelBuilder &k_;
  const KernelAlong &along_;
};

} // namespace tenon::compiler::codegen
