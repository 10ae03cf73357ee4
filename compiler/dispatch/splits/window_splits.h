// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Into how many parts the sums of a convolution are taken, whose tiles are few: rows of the window, its columns or
// both, and of exact f32 channels, too.
#pragma once

#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/splits/known_split.h"

namespace tenon::compiler::dispatch {

/// Of a convolution on tensor cores, none of whose rows of the window is cut; one after the other.
llvm::SmallVector<Split> windowSplitsOf(mlir::linalg::GenericOp op, const Contraction &product);
/// The same of exact f32: multiprocessors with few tiles at a time have too few warps, and those with one more than
/// others take longer.
llvm::SmallVector<Split> scalarWindowSplitsOf(mlir::linalg::GenericOp op, const Contraction &product);

} // namespace tenon::compiler::dispatch
