// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What contractions of some sizes are made by, for tests of the ways in which their sums are taken apart.
#pragma once

#include "compiler/codegen/strategies/products/contraction.h"
#include "compiler/dispatch/analysis/products/tile_factors.h"
#include "tests/unit/compiler/codegen/contraction/products.h"

namespace tenon::compiler::codegen {

class ContractionPlansTest : public ProductTest {
protected:
  std::vector<Plan> plans(int64_t m, int64_t n, int64_t k, bool isForHopper = true) {
    const KernelFunction &kernel =
        read("mk", "nk", {{'m', std::to_string(m)}, {'n', std::to_string(n)}, {'k', std::to_string(k)}});
    mlir::func::FuncOp function = kernel.function;
    if (isForHopper)
      function->setAttr(dispatch::kHopperOnlyAttr, mlir::UnitAttr::get(&context_));
    return Contraction().plans(kernel, *shape_);
  }
};

} // namespace tenon::compiler::codegen
