// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of tf32 on Hopper alone whose sides both lie across, such as gradients by the filters of convolutions of one
// place with channels last. Warpgroups want one of them turned before (products/matrix_product.h). Warps read both as
// they lie (codegen/contraction/kernels/tensor_core_product), but multiply at a third of the rate: where memory is what
// both wait for, a turn is what it saves.
#pragma once

#include "compiler/dispatch/analysis/products/contraction.h"

namespace tenon::compiler::dispatch {

struct ProductSizes {
  int64_t batch, rows, columns, reduced;
};

/// In how many parts of its sum such a product is done soonest by warps: as many as give each multiprocessor all the
/// tiles that it has at once. And how long all of it takes.
struct AcrossParts {
  int64_t parts;
  double microseconds;
};
AcrossParts partsByWarps(const ProductSizes &sizes);

/// Whether that is sooner than to turn the smaller side, and to multiply by warpgroups.
bool isSoonerByWarps(const ProductSizes &sizes);

/// Whether both sides of a product of tf32 on Hopper alone are in memory and lie across, and one loop is summed.
bool liesAcrossTwice(const Contraction &product);

} // namespace tenon::compiler::dispatch
