// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Into how many parts the sum of a product of tf32 on Hopper alone is taken, whose sides do not both lie along it.
#pragma once

#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/splits/known_split.h"

namespace tenon::compiler::dispatch {

bool liesAcross(const Contraction &product, const ContractionSide &side);

/// Whether warpgroups read a side of such a product into registers: one lies across, all have all terms of one sum.
bool isReadIntoRegisters(const Contraction &product);
/// Of such a product as many parts as are done sooner, by the time of the tiles, of what memory gives, and of the sum
/// of the parts.
std::optional<Split> registersSplitOf(mlir::linalg::GenericOp op, const Contraction &product);

/// Where both sides lie across, and warps multiply them (analysis/products/across_twice.h).
std::optional<Split> acrossSplitOf(mlir::linalg::GenericOp op, const Contraction &product);

} // namespace tenon::compiler::dispatch
