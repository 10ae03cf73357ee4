// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of convolutions by their filters are sums over all places of all images, and have few results. Where each
// channel is one for itself, or groups have few, no tiles of a product compute them: images are parts, and then rows
// (known_split.h).
#pragma once

#include "compiler/dispatch/analysis/products/contraction.h"

namespace tenon::compiler::dispatch {

/// Whether the operation is the gradient of a convolution by its filters.
bool isOfFilters(mlir::linalg::GenericOp op, const Contraction &product);
/// Whether the sum may be taken apart along the loop into so many parts: some operand has it as an index of its own,
/// and tensor cores multiply whole lines of what lies along it.
bool mayBeParts(mlir::linalg::GenericOp op, const Contraction &product, unsigned loop, int64_t parts);
/// Takes such a gradient of channels, or of groups of few, apart where it has to be.
/// @return whether it is one
bool splitFilterGradient(mlir::linalg::GenericOp op);

} // namespace tenon::compiler::dispatch
