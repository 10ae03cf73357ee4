// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/patches.h"

#include "abi/tensor_map.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Images that a patch is chosen for where nobody says how many there are.
constexpr int64_t kAssumedImages = 8;

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

/// The same of rows; where it is unknown how many images there are, what is assumed.
SmallVector<int64_t> rowSizesOf(const GroupShape &shape, const Product &product) {
  if (product.rows.size() < 2)
    return sizesOf(shape, product.rows);
  SmallVector<int64_t> sizes = sizesOf(shape, ArrayRef(product.rows).drop_front());
  if (!sizes.empty())
    sizes.insert(sizes.begin(), shape.axes[product.rows.front()].size.value_or(kAssumedImages));
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

/// Whether both sides index the axis alone, and their tensors end where it does: beyond its end neither has an element.
/// Behind a slice there are neighbours, and behind a dimension that a tensor map has as one with that in front of it
/// (tile_map.cpp) the next positions of that one.
bool isPlainAxis(const GroupShape &shape, const Product &product, unsigned axis) {
  const SmallVector<unsigned> groupAxes = shape.group.axisOf.lookup(product.op->op);
  const SmallVector<int64_t> sizes = linalg::GenericOp(product.op->op).getStaticLoopRanges();
  auto isPlain = [&](const Operand &operand) {
    const KernelTensor &tensor = operand.tensor();
    const size_t rank = tensor.map.getNumResults();
    for (auto [loop, groupAxis] : llvm::enumerate(groupAxes)) {
      if (!llvm::is_contained(shape.axes[axis].axes, groupAxis))
        continue;
      const std::optional<unsigned> position =
          tensor.map.getResultPosition(getAffineDimExpr(loop, tensor.map.getContext()));
      const bool isMerged = position && rank > abi::kMaxTensorMapRank && *position + abi::kMaxTensorMapRank <= rank;
      if (!position || isMerged || tensor.shape.size() != rank || tensor.shape[*position].value ||
          tensor.shape[*position].size != sizes[loop])
        return false;
    }
    return true;
  };
  return product.left.isCopied() && product.right.isCopied() && isPlain(product.left) && isPlain(product.right);
}

/// Whether more than half of so many numbers stand for nothing.
bool isMostlyBehind(int64_t count, ArrayRef<int64_t> sizes) {
  return count > 2 * Patches{SmallVector<int64_t>(sizes.size(), 1)}.count(sizes);
}

/// Adds sides of powers of two for the axes in front of `sides`, innermost first; `most` is the product that is left.
/// Keeps the patch that has fewest numbers in whole steps, the largest of these.
void searchWhole(ArrayRef<int64_t> sizes, int64_t depth, bool mayLeave, int64_t most, SmallVector<int64_t> &sides,
                 Patches &best, int64_t &least) {
  constexpr int64_t kLeastRows = 8; // that are swizzled together
  if (sides.size() == sizes.size()) {
    const Patches patches{sides};
    const int64_t size = patches.size(), count = patches.count(sizes);
    const auto numbers = int64_t(llvm::alignTo(uint64_t(count), uint64_t(depth)));
    if (size < kLeastRows || (numbers != count && !mayLeave) || isMostlyBehind(count, sizes))
      return;
    if (best.sides.empty() || numbers < least || (numbers == least && size > best.size()))
      best = patches, least = numbers;
    return;
  }
  const bool isOutermost = sides.size() + 1 == sizes.size();
  const int64_t length = sizes[sizes.size() - 1 - sides.size()];
  for (int64_t side = most; side > 0; side /= 2) {
    if (length % side != 0 && !(isOutermost && mayLeave))
      continue;
    sides.insert(sides.begin(), side);
    searchWhole(sizes, depth, mayLeave, most / side, sides, best, least);
    sides.erase(sides.begin());
  }
}

} // namespace

bool liesAcross(const Product &product) {
  return product.reduced.size() > 1 && product.places.empty() && !product.left.isAlongReduced &&
         !product.right.isAlongReduced;
}

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
  const SmallVector<int64_t> sizes = rowSizesOf(shape, product);
  Patches best;
  int64_t least = 0;
  SmallVector<int64_t> sides;
  const int64_t images = product.imagesOfPatch;
  if (sizes.size() < 2 || !product.left.isAlongReduced || !llvm::isPowerOf2_64(uint64_t(rows)) || images > rows)
    return {};
  if (images == 0) {
    search(sizes, rows, sides, best, least);
    return best;
  }
  search(ArrayRef(sizes).drop_front(), rows / images, sides, best, least);
  best.sides.insert(best.sides.begin(), images);
  return best;
}

Patches patchesOfReduced(const GroupShape &shape, const Product &product, int64_t depth) {
  const SmallVector<int64_t> sizes = sizesOf(shape, product.reduced);
  if (liesAcross(product) && !sizes.empty() && !llvm::is_contained(sizes, 0)) {
    Patches best;
    int64_t least = 0;
    SmallVector<int64_t> sides;
    searchWhole(sizes, depth, isPlainAxis(shape, product, product.reduced.front()), depth, sides, best, least);
    return best;
  }
  if (sizes.size() < 2 || sizes.back() == 0 ||
      int64_t(llvm::alignTo(uint64_t(sizes.back()), uint64_t(depth))) > 2 * sizes.back())
    return {};
  Patches patches{SmallVector<int64_t>(sizes.size(), 1)};
  patches.sides.back() = depth;
  return patches;
}

} // namespace tenon::compiler::codegen
