// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether blocks share the sums of a product's last tiles (contraction/kernels/shared_tiles.h), and the plans of its
// two kernels: one sets the flags to 0, by which blocks of the other say that their sums are there.
#pragma once

#include "compiler/codegen/contraction/tile_space.h"
#include "compiler/codegen/plan/strategy.h"
#include "compiler/codegen/strategies/products/plans/tiles/contraction_tiles.h"

namespace tenon::compiler::codegen {

/// Choices of these plans, and of no others.
inline constexpr llvm::StringLiteral kParts = "parts", kClearsFlags = "clears_flags";
inline constexpr int64_t kMostParts = 4;

/// Whether kernels can be made: of a plain product of known sizes, both of whose operands come as boxes, and so many
/// parts of tiles that they are one round of blocks. A block then waits for those with lower numbers alone, which have
/// begun before it.
bool mayShareSums(const GroupShape &shape, const Product &product, const WarpgroupTile &tile, int64_t parts);

struct SharedSums {
  const WarpgroupTile *tile;
  int64_t parts;
  double microseconds;
};
/// With what a product is done first when sums are shared; nothing where it is not done earlier than with whole tiles,
/// which are `whole`, or where code is made for other targets, too, which would launch the first kernel in vain.
std::optional<SharedSums> bestSharedSums(const KernelFunction &kernel, const GroupShape &shape, const Product &product,
                                         const WarpgroupTile &whole);
/// The two kernels' plans, from that of a kernel of whole tiles.
std::vector<Plan> sharingPlans(const Plan &whole, const KernelFunction &kernel, const GroupShape &shape,
                               const Product &product, int64_t parts);
/// A kernel of the first plan.
void clearShareFlags(Writer &writer);
/// Tells a kernel of the second plan what it shares.
void shareSums(ProductKernel &kernel, const Writer &writer);

} // namespace tenon::compiler::codegen
