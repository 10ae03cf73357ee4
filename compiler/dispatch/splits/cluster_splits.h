// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of matrices with long sums and few results, such as the gradient by the filters of a convolution of one
// place, on Hopper's tensor cores. Up to eight blocks of a cluster take the sums of a tile apart and add them where
// they are (codegen/strategies/products/plans/cluster_sums.h), but clusters are of neighbouring multiprocessors, leave
// many others idle, and take long to meet. Where sums are long, parts that a kernel behind adds up are done sooner, as
// many as give each multiprocessor a tile.
#pragma once

#include "compiler/dispatch/analysis/contraction.h"
#include "compiler/dispatch/splits/known_split.h"

namespace tenon::compiler::dispatch {

/// @param product of one reduced loop, with operands that come in boxes, for sm_90a alone
/// @return nothing where it is done sooner without
std::optional<Split> clusterSplitOf(mlir::linalg::GenericOp op, const Contraction &product);

} // namespace tenon::compiler::dispatch
