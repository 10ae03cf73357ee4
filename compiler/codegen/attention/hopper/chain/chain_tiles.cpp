// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/chain/chain_tiles.h"

#include "abi/arch_table.h"
#include "compiler/codegen/attention/hiding.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// So many tiles keep a large device busy several times over, and what they read fits its second-level cache.
constexpr int64_t kTilesTogether = 512;
// Blocks of keys of a tile from which on blocks stay. On an H200 tiles of two to five took 0.71 to 0.93 of the time, of
// eight 0.93 to 0.99, of 16 and more 0.975 to 0.985; of twins that go through several heads 1.25.
constexpr int64_t kFewestBlocks = 2;

} // namespace

ChainTiles::ChainTiles(const AttentionKernel &kernel, const WarpgroupChainShape &shape)
    : kernel_(kernel), k_(kernel.k) {
  const std::optional<Hiding> hiding = hidingOf(kernel.shape, kernel.attention, kernel.rows);
  areMasked_ = hiding && !hiding->bounds.empty() && hiding->ranges.empty();
  isLower_ = areMasked_ && llvm::none_of(hiding->bounds, [](const KeyBound &bound) { return bound.isUpper; });
  // Blocks of a strategy that a program pins may have a part of the columns each.
  haveColumns_ = kernel.columns >= shape.columns;
  const bool areEven = !hiding || (hiding->bounds.empty() && hiding->ranges.empty() && hiding->rowBounds.empty());
  const Product &output = kernel.attention.output;
  const std::optional<int64_t> keys = kernel.shape.sizeOf(output.reduced), batch = kernel.shape.sizeOf(output.batch),
                               rows = kernel.shape.sizeOf(output.rows);
  const bool areMany =
      !batch || !rows || *batch * int64_t(llvm::divideCeil(*rows, kernel.rows)) > abi::kHopperMultiprocessors;
  const bool areLong = keys && *keys > (kFewestBlocks - 1) * int64_t(shape.keys);
  areTakenInTurn_ =
      areEven && areMany && areLong && haveColumns_ && !kernel.attention.across && !kernel.attention.heads();
}

Value ChainTiles::sizeOf(ArrayRef<unsigned> axes) const {
  Value size = k_.number(1);
  for (unsigned axis : axes)
    size = k_.mul(size, kernel_.space.size(axis));
  return size;
}

/// Of an element of the batch.
Value ChainTiles::down() const {
  Value rows = sizeOf(kernel_.attention.output.rows);
  return k_.div(k_.add(rows, k_.number(kernel_.rows - 1)), k_.number(kernel_.rows));
}

Value ChainTiles::count() const {
  return k_.mul(sizeOf(kernel_.attention.output.batch), down());
}

AttentionTile ChainTiles::at(Value at) const {
  if (!areMasked_ || !haveColumns_)
    return tileOf(kernel_, at, isLower_);
  Value one = k_.number(1), batch = sizeOf(kernel_.attention.output.batch), down = this->down();
  Value most = k_.div(k_.number(kTilesTogether), down);
  most = k_.select(k_.less(most, one), one, most);
  Value together = k_.mul(most, down), first = k_.mul(k_.div(at, together), most), number = k_.rem(at, together);
  Value elements = k_.min(most, k_.sub(batch, first));
  Value row = k_.div(number, elements);
  if (!isLower_)
    row = k_.sub(k_.sub(down, one), row);
  return {k_.add(first, k_.rem(number, elements)), k_.mul(row, k_.number(kernel_.rows)), k_.number(0)};
}

} // namespace tenon::compiler::codegen
