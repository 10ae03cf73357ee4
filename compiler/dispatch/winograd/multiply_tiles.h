// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A convolution of f32 by Winograd's: tiles of the image and of the other factor become planes (one for each place of a
// tile), each plane is a product of matrices, and tiles of the result come of all planes.
#pragma once

#include "compiler/dispatch/winograd/layer.h"

namespace tenon::compiler::dispatch {

/// Replaces the convolution, where that takes less time than its products do. The operations that it becomes stand
/// where it stood.
/// @param print remarks: how it is computed, or why as it was
bool multiplyTiles(const Convolution &convolution, bool print);

/// Where an operation says which tiles it wants (tenon.tile_side), and none are for it.
void warnOfTileSide(mlir::Location loc, mlir::IntegerAttr side);

} // namespace tenon::compiler::dispatch
