// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of matrices with long sums and few results, such as the gradient by the filters of a convolution of one
// place, on Hopper's tensor cores. Up to eight blocks of a cluster take the sums of a tile apart and add them where
// they are (codegen/strategies/products/plans/tiles/cluster_sums.h), but clusters are of neighbouring multiprocessors,
// leave many others idle, and take long to meet. Where sums are long, parts that a kernel behind adds up are done
// sooner, as many as give each multiprocessor a tile.
#pragma once

#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/splits/known_split.h"

namespace tenon::compiler::dispatch {

/// Clusters of so many blocks, up to eight, that run at once where each has a multiprocessor for itself: those of a
/// cluster are neighbours (as the driver of an H200 says).
int64_t clustersAtOnce(int64_t blocks);

// Of such clusters of warpgroups: until one has met twice, and for each byte of a tile's sums that a block reads of the
// others (measured on an H200: bf16 tt 104 x 440 x 3544 in tiles of 64 x 64, whole and by eight blocks).
inline constexpr double kMicrosecondsOfMeeting = 2.5, kMicrosecondsOfClusterByte = 1 / 40e3;

/// @param product of one reduced loop, with operands that come in boxes, for sm_90a alone
/// @return nothing where it is done sooner without
std::optional<Split> clusterSplitOf(mlir::linalg::GenericOp op, const Contraction &product);

} // namespace tenon::compiler::dispatch
