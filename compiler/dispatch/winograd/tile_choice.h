// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How large the tiles of a convolution by Winograd's are, and whether it is faster at all: a model of bytes and
// multiplications.
#pragma once

#include "compiler/dispatch/winograd/layer.h"
#include "compiler/dispatch/winograd/tile_matrices.h"

namespace tenon::compiler::dispatch {

/// In microseconds of an H200, of all kernels: the direct one, and the four.
double directTime(const WindowLayer &layer);
double timeInTiles(const WindowLayer &layer, const TileMatrices &matrices);

/// Nothing where the direct kernel takes no longer.
/// @param side of the tiles, where the program says it: nothing then where there are none of such
std::optional<TileMatrices> tilesOf(const WindowLayer &layer, std::optional<int64_t> side);

} // namespace tenon::compiler::dispatch
