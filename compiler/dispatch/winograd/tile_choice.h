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

/// In how many parts the sums over tiles of a gradient by filters are taken: where tiles of the product are more than
/// multiprocessors, and so few that the last of them leave many idle.
int64_t partsOfSum(const WindowLayer &layer, const TileMatrices &matrices);

/// Whether planes have their channels last, by filters, also of an image whose channels come first: the products are
/// faster then, and the transforms slower.
bool areChannelsLast(const WindowLayer &layer, const TileMatrices &matrices);

/// Of all planes that are stored.
double bytesOfPlanes(const WindowLayer &layer, const TileMatrices &matrices);

/// Nothing where the direct kernel takes no longer, or planes more than 4 GiB.
/// @param side of the tiles, where the program says it: nothing then where there are none of such
std::optional<TileMatrices> tilesOf(const WindowLayer &layer, std::optional<int64_t> side);

} // namespace tenon::compiler::dispatch
