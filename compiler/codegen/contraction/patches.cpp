// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/patches.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

/// Sizes of the axes; none where one is unknown.
SmallVector<int64_t> sizesOf(const GroupShape &shape, ArrayRef<unsigned> axes) {
  SmallVector<int64_t> sizes;
  for (unsigned axis : axes) {
    if (!shape.axes[axis].size)
      return {};
    sizes.push_back(*shape.axes[axis].size);
  }
  return sizes;
}

/// Tries every way to make `rows`, a power of two, of powers of two; wide patches first.
void search(ArrayRef<int64_t> sizes, int64_t rows, SmallVector<int64_t> &sides, Patches &best, int64_t &least) {
  if (sides.size() + 1 == sizes.size()) {
    sides.insert(sides.begin(), rows);
    const Patches patches{sides};
    if (const int64_t count = patches.count(sizes); best.sides.empty() || count < least)
      best = patches, least = count;
    sides.erase(sides.begin());
    return;
  }
  for (int64_t side = rows; side > 0; side /= 2) {
    sides.insert(sides.begin(), side);
    search(sizes, rows / side, sides, best, least);
    sides.erase(sides.begin());
  }
}

} // namespace

int64_t Patches::size() const {
  int64_t size = 1;
  for (int64_t side : sides)
    size *= side;
  return size;
}

int64_t Patches::count(ArrayRef<int64_t> sizes) const {
  int64_t count = 1;
  for (auto [side, length] : llvm::zip_equal(sides, sizes))
    count *= int64_t(llvm::alignTo(uint64_t(length), uint64_t(side)));
  return count;
}

Patches patchesOfRows(const GroupShape &shape, const Product &product, int64_t rows) {
  const SmallVector<int64_t> sizes = sizesOf(shape, product.rows);
  Patches best;
  int64_t least = 0;
  SmallVector<int64_t> sides;
  if (sizes.size() > 1 && llvm::isPowerOf2_64(uint64_t(rows)))
    search(sizes, rows, sides, best, least);
  return best;
}

Patches patchesOfReduced(const GroupShape &shape, const Product &product, int64_t depth) {
  const SmallVector<int64_t> sizes = sizesOf(shape, product.reduced);
  if (sizes.size() < 2 || sizes.back() == 0 ||
      int64_t(llvm::alignTo(uint64_t(sizes.back()), uint64_t(depth))) > 2 * sizes.back())
    return {};
  Patches patches{SmallVector<int64_t>(sizes.size(), 1)};
  patches.sides.back() = depth;
  return patches;
}

} // namespace tenon::compiler::codegen
