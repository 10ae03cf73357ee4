// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles of 128 rows by 64 to 256 columns or of 256 by 64 to 128, multiples of 16, for products whose right operand lies
// across and whose columns are few for each element of the batch: places of images, channels first. A tile lies on one
// image, so that what counts is how often its columns, and the multiprocessors, divide what there is.
//
//   784 places of 32 images, 256 filters   128 x 128: 448 tiles, four rounds, the last of an image has 16 places
//                                          128 x 208: 256 tiles, two rounds
//                                          256 x 112: 224 tiles, two rounds, all of them full
#pragma once

#include "compiler/codegen/strategies/products/plans/tiles/contraction_tiles.h"

namespace tenon::compiler::codegen {

/// All of them, whatever the product, but for those that are among other tiles.
llvm::ArrayRef<WarpgroupTile> placeTiles();
/// Whether a product may have them: of f16 or bf16, whose operands come as boxes.
bool mayHavePlaceTiles(const GroupShape &shape, const Product &product);
/// One that is done before `whole` is, of known sizes. Null: none is.
const WarpgroupTile *bestPlaceTile(const KernelFunction &kernel, const GroupShape &shape, const Product &product,
                                   const WarpgroupTile &whole);

} // namespace tenon::compiler::codegen
