// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/chain/chain_shape.h"

#include "compiler/codegen/attention/hiding.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Of a tile of the depth, and of a block of keys.
constexpr uint32_t kTileDepth = 64, kMostKeys = 128;
// Depths are multiples of a vector. Behind the last element of one a tile holds zeros.
constexpr int64_t kMostDepth = 128, kVector = 8;

/// Whether both maps bring the same box of a tensor: keys, and all of the depth or of the columns.
bool bringTheSame(const TileMap &right, unsigned depthAxis, const TileMap &values, unsigned columnAxis) {
  using Dimension = TileMap::Dimension;
  auto areSame = [&](const Dimension::Term &one, const Dimension::Term &other) {
    return one.factor == other.factor && one.behind == other.behind && one.size == other.size &&
           (one.axis == other.axis || (one.axis == depthAxis && other.axis == columnAxis));
  };
  return right.binding == values.binding &&
         llvm::equal(right.dimensions, values.dimensions, [&](const Dimension &one, const Dimension &other) {
           return one.offset == other.offset && llvm::equal(one.terms, other.terms, areSame);
         });
}

/// A product of the keys of one head, where keys are of several.
Product ofOneHead(Product product, std::optional<unsigned> heads) {
  if (heads)
    for (SmallVector<unsigned> *axes : {&product.columns, &product.reduced, &product.right.across})
      llvm::erase(*axes, *heads);
  return product;
}

/// Whether weights are computed from something that each key has its own of, beside the scores.
bool readsAlongKeys(const GroupShape &shape, const Attention &attention) {
  linalg::GenericOp op = attention.logits->op;
  const ArrayRef<unsigned> keys = shape.axes[attention.keys()].axes;
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    if (llvm::any_of(attention.inner(), [&](const Product *product) {
          return input->get() == linalg::GenericOp(product->op->op)->getResult(0);
        }))
      return false;
    AffineMap map = op.getMatchingIndexingMap(input);
    const SmallVector<unsigned> axes = shape.group.axisOf.lookup(op);
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (llvm::is_contained(keys, axes[loop]) && map.isFunctionOfDim(loop))
        return true;
    return false;
  });
}

/// Whether the right factor of the third of triplets is the left one of the scores, whose rows a block has anyway.
bool multipliesRows(const GroupShape &shape, const Attention &attention, uint32_t columns) {
  const Product &across = *attention.across, &scores = attention.scores;
  if (across.right.isAlongReduced || across.columns.size() != 1 || across.reduced != attention.output.rows ||
      across.tensorCoreElement() != attention.tensorCoreElement() || shape.sizeOf(across.columns) != columns ||
      shape.sizeOf(scores.reduced) != columns)
    return false;
  const std::optional<TileMap> rows = mapOf(shape, scores, scores.left, kTileDepth, kTileDepth),
                               values = mapOf(shape, across, across.right, columns, kTileDepth);
  return rows && values && bringTheSame(*rows, scores.reduced.front(), *values, across.columns.front());
}

/// Inputs of the weights of which each key has one element, f32, for all rows.
SmallVector<unsigned, 2> vectorsAlongKeys(const GroupShape &shape, const Attention &attention) {
  SmallVector<unsigned, 2> found;
  const KernelOp &op = *attention.logits;
  const Product &output = attention.output;
  for (auto [number, input] : llvm::enumerate(op.inputs)) {
    auto isSame = [&, &tensor = input.tensor](unsigned axis) {
      return shape.along(tensor, op.op, axis) == GroupShape::Along::Same;
    };
    if (input.isMemory() && input.tensor.element.isF32() && !isSame(attention.keys()) &&
        llvm::all_of(output.rows, isSame) && llvm::all_of(output.columns, isSame))
      found.push_back(number);
  }
  return found;
}

} // namespace

std::optional<WarpgroupChainShape> WarpgroupChainShape::of(const GroupShape &shape, const Attention &attention) {
  auto isTaken = [](int64_t size) { return size > 0 && size <= kMostDepth && size % kVector == 0; };
  auto wholeTiles = [](int64_t size) { return uint32_t(llvm::alignTo(uint64_t(size), kTileDepth)); };
  const Product &output = attention.output;
  const int64_t columns = shape.sizeOf(output.columns).value_or(0);
  // Blocks of keys are of one head; of triplets, whole ones.
  const std::optional<int64_t> length = shape.axes[attention.keys()].size;
  if (attention.heads() && (!attention.twin || !length || (attention.across && *length % kMostKeys != 0)))
    return std::nullopt;
  if (!attention.isChain || !attention.tensorCoreElement() || !isTaken(columns) || output.right.isAlongReduced ||
      output.columns.size() != 1)
    return std::nullopt;
  auto isOneTile = [&](const Product &product) {
    return shape.sizeOf(product.reduced).value_or(kMostDepth) <= kTileDepth;
  };
  const bool isNarrow =
      columns <= kTileDepth && isOneTile(attention.scores) && (!attention.second || isOneTile(*attention.second));
  const bool hasPlace = !attention.second || (isNarrow && (attention.twin || !readsAlongKeys(shape, attention)));
  WarpgroupChainShape found{{}, wholeTiles(columns), {},          uint32_t(columns), hasPlace ? kMostKeys : 64U, {},
                            {}, std::nullopt,        std::nullopt};
  auto mapOfKeys = [&](const Product &product, uint32_t side, uint32_t depth) {
    const Product ofHead = ofOneHead(product, attention.heads());
    return mapOf(shape, ofHead, ofHead.right, side, depth);
  };
  const std::optional<TileMap> values = mapOfKeys(output, found.columns, found.keys);
  if (!values)
    return std::nullopt;
  found.valueMap = *values;
  std::optional<TileMap> ofTwin;
  if (attention.twin) {
    if (!attention.twin->right.isAlongReduced)
      ofTwin = mapOfKeys(*attention.twin, found.columns, found.keys);
    if (!ofTwin || !hideTheSame(shape, attention.parts(), kWarpgroupChainRows))
      return std::nullopt;
  }
  for (const Product *product : attention.inner()) {
    const int64_t depth = shape.sizeOf(product->reduced).value_or(0);
    if (!isTaken(depth) || product->reduced.size() != 1 || !product->left.isAlongReduced ||
        !product->right.isAlongReduced)
      return std::nullopt;
    const std::optional<TileMap> map = mapOfKeys(*product, found.keys, kTileDepth);
    if (!map || map->boxes != 1)
      return std::nullopt;
    if (depth == columns && bringTheSame(*map, product->reduced.front(), *values, output.columns.front()))
      found.shared = found.depths.size();
    if (ofTwin && depth == columns && bringTheSame(*map, product->reduced.front(), *ofTwin, output.columns.front()))
      found.twinShared = found.depths.size();
    found.depths.push_back(wholeTiles(depth));
    found.reduced.push_back(uint32_t(depth));
    found.rightMaps.push_back(*map);
  }
  if (attention.twin && (!found.shared || !found.twinShared))
    return std::nullopt;
  if (attention.twin)
    found.vectors = vectorsAlongKeys(shape, attention);
  if (attention.across) {
    if (!attention.twin || !multipliesRows(shape, attention, uint32_t(columns)))
      return std::nullopt;
    Product rows = *attention.across;
    rows.rows = {attention.keys()}; // of one head
    found.acrossMap =
        resultMapOf(shape, rows, *rows.op, rows.op->outputs.front().tensor, kAcrossSide, kAcrossBoxColumns);
    if (!found.acrossMap)
      return std::nullopt;
  }
  if (attention.kept) {
    Product weights = output;
    weights.columns = {attention.keys()};
    found.keptMap =
        resultMapOf(shape, weights, *attention.kept, attention.kept->outputs.front().tensor, kKeptRows, kKeptKeys);
    if (!found.keptMap)
      return std::nullopt;
  }
  return found;
}

SmallVector<const TileMap *> WarpgroupChainShape::maps() const {
  SmallVector<const TileMap *> all;
  for (const TileMap &map : rightMaps)
    all.push_back(&map);
  if (!shared)
    all.push_back(&valueMap);
  if (acrossMap)
    all.push_back(&*acrossMap);
  if (keptMap)
    all.push_back(&*keptMap);
  return all;
}

} // namespace tenon::compiler::codegen
