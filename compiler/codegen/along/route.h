// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// iree_linalg_ext.route: the table of a routed product (dispatch/analysis/products/routes.h), by one block.
//
// Rows are sorted by counting. Each warp has a run of them, 32 at a time, side by side: lanes whose rows name the same
// expert find each other, so that the warp counts how many rows of each expert it has. What earlier warps have, and
// what earlier experts have, is added up; then the warp goes through its rows once more and knows where each belongs:
// behind those of its expert that come before it.
#pragma once

#include "compiler/codegen/along/lines/along.h"

namespace tenon::compiler::codegen {

class Route : public AlongStrategy {
public:
  llvm::StringRef name() const override { return "route"; }
  bool takes(mlir::Operation *op) const override;
  AlongPlans plans(const KernelFunction &kernel) const override;
  void write(AlongWriter &writer) const override;
};

} // namespace tenon::compiler::codegen
