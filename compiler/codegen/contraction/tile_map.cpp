// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/tile_map.h"

#include "abi/tensor_map.h"
#include "compiler/dialect/hal/HalAttrs.h"

#include <numeric>

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kRowBytes = 128; // of a swizzled box
constexpr uint32_t kRowsOfSwizzle = 8;
constexpr uint32_t kMapAlignment = 64;
constexpr int64_t kMostOfBox = 256, kMostStride = 8; // along a dimension

uint32_t elementsInRow(Type element) {
  return kRowBytes * 8 / element.getIntOrFloatBitWidth();
}

/// Of the space, the one that a loop of the operation is on.
unsigned axisOf(const GroupShape &shape, const KernelOp &op, unsigned loop) {
  const unsigned groupAxis = shape.group.axisOf.lookup(op.op)[loop];
  return llvm::find_if(shape.axes, [&](const SpaceAxis &axis) { return llvm::is_contained(axis.axes, groupAxis); }) -
         shape.axes.begin();
}

/// Which part of its axis a loop of the operation is; nothing where a dimension behind it is of a size that is not
/// known.
std::optional<TileMap::Dimension::Term> termOf(const GroupShape &shape, const KernelOp &op, unsigned loop) {
  const unsigned axis = axisOf(shape, op, loop), groupAxis = shape.group.axisOf.lookup(op.op)[loop];
  const SpaceAxis &whole = shape.axes[axis];
  const auto number = size_t(llvm::find(whole.axes, groupAxis) - whole.axes.begin());
  const std::optional<int64_t> behind = knownProduct(ArrayRef(whole.extents).drop_front(number + 1));
  const Extent &own = whole.extents[number];
  if (!behind || *behind == 0 || (number != 0 && own.value))
    return std::nullopt;
  return TileMap::Dimension::Term{axis, 1, *behind, number == 0 ? 0 : own.size};
}

/// A dimension that several loops index, or one with a factor or an offset; nothing where one of these is only a part
/// of an axis of the space.
std::optional<TileMap::Dimension> sumOf(const GroupShape &shape, const KernelOp &op, AffineExpr expr) {
  const std::optional<dispatch::LinearExpr> sum =
      dispatch::LinearExpr::of(expr, linalg::GenericOp(op.op).getNumLoops());
  if (!sum)
    return std::nullopt;
  TileMap::Dimension dimension{{}, sum->offset};
  for (auto [loop, factor] : llvm::enumerate(sum->factors)) {
    if (factor == 0)
      continue;
    const unsigned axis = axisOf(shape, op, loop);
    if (shape.axes[axis].axes.size() != 1)
      return std::nullopt;
    dimension.terms.push_back({axis, factor});
  }
  return dimension;
}

/// Whether a dimension is the innermost one of an axis that is several.
bool isLastOf(const TileMap::Dimension &dimension, unsigned axis) {
  return dimension.terms.size() == 1 && dimension.offset == 0 && dimension.terms.front().axis == axis &&
         dimension.terms.front().size != 0 && dimension.terms.front().behind == 1;
}

/// Whether a dimension is all of an axis, moved by what others add to it: places that a window slides along.
bool slidesAlong(const TileMap::Dimension &dimension, unsigned axis) {
  const auto *along = llvm::find_if(dimension.terms, [&](const TileMap::Dimension::Term &term) {
    return term.axis == axis && term.factor == 1 && term.size == 0;
  });
  return along != dimension.terms.end();
}

/// Whether no loop alone is two dimensions. Where it is part of a sum, withBox sees to it.
bool hasNoDiagonal(AffineMap map) {
  llvm::SmallDenseSet<AffineExpr> seen;
  return llvm::all_of(map.getResults(),
                      [&](AffineExpr expr) { return !isa<AffineDimExpr>(expr) || seen.insert(expr).second; });
}

/// Where boxes begin in the tensor's rows.
enum class Begins { AtRows, AtVectors };

/// A map of the tensor without its box; nothing where there is none whose innermost dimension is `innermost`.
std::optional<TileMap> wholeMap(const GroupShape &shape, const KernelOp &op, const KernelTensor &tensor,
                                unsigned innermost, Begins mayBegin = Begins::AtRows) {
  // Rows of a size that is known not to be a multiple of 16 bytes have no map.
  const int64_t bytes = tensor.element.getIntOrFloatBitWidth() / 8;
  const SpaceAxis &last = shape.axes[innermost];
  if (last.size && *last.size * bytes % 16 != 0)
    return std::nullopt;
  if (last.axes.size() > 1 && !tensor.shape.empty() && tensor.shape.back().size * bytes % 16 != 0)
    return std::nullopt;
  if (!hasNoDiagonal(tensor.map))
    return std::nullopt; // of a diagonal there are no boxes
  TileMap map;
  size_t merged = 0; // dimensions of the tensor, with the one in front of them
  map.binding = tensor.binding;
  map.element = tensor.element;
  for (AffineExpr expr : tensor.map.getResults()) {
    if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
      const unsigned axis = axisOf(shape, op, loop.getPosition());
      if (map.axes.size() == 1 && map.axes.front() == axis)
        continue; // the outermost dimensions are one
      if (llvm::is_contained(map.axes, axis))
        return std::nullopt;
      if (map.axes.empty() || shape.axes[axis].axes.size() == 1) {
        map.axes.push_back(axis);
        map.dimensions.push_back({{{axis, 1}}, 0});
        continue;
      }
      // Dimensions that are an axis together, behind others.
      const std::optional<TileMap::Dimension::Term> term = termOf(shape, op, loop.getPosition());
      if (!term)
        return std::nullopt;
      map.axes.push_back(TileMap::kNoAxis);
      map.dimensions.push_back({{*term}, 0});
      continue;
    }
    std::optional<TileMap::Dimension> sum = sumOf(shape, op, expr);
    if (!sum)
      return std::nullopt;
    map.axes.push_back(TileMap::kNoAxis);
    map.dimensions.push_back(*sum);
  }
  // More dimensions than a map has: the outermost ones are one, and a box has one position of it.
  while (map.dimensions.size() == tensor.shape.size() - merged && map.dimensions.size() > abi::kMaxTensorMapRank) {
    const Extent &inner = tensor.shape[++merged];
    if (inner.value)
      return std::nullopt;
    for (TileMap::Dimension::Term &term : map.dimensions[0].terms)
      term.factor *= inner.size;
    llvm::append_range(map.dimensions[0].terms, map.dimensions[1].terms);
    map.dimensions[0].offset = map.dimensions[0].offset * inner.size + map.dimensions[1].offset;
    map.dimensions.erase(map.dimensions.begin() + 1);
    map.axes.erase(map.axes.begin());
    map.axes.front() = TileMap::kNoAxis;
  }
  const bool fits = !map.axes.empty() && map.axes.size() <= abi::kMaxTensorMapRank &&
                    (map.axes.back() == innermost || isLastOf(map.dimensions.back(), innermost) ||
                     (mayBegin == Begins::AtVectors && slidesAlong(map.dimensions.back(), innermost)));
  return fits ? std::optional(map) : std::nullopt;
}

/// How far a tile reaches on an axis of the space.
struct Reach {
  unsigned axis;
  int64_t positions;
  bool isInSteps = false; // each tile begins at a multiple of them
};

/// What a dimension of an axis that is several has of so many positions of it, which begin at a multiple of them:
/// nothing where they are no box.
std::optional<int64_t> partOf(int64_t positions, int64_t behind, int64_t size) {
  if (behind % positions == 0)
    return 1;
  if (positions % behind != 0)
    return std::nullopt;
  const int64_t here = positions / behind;
  if (size == 0 || size % here == 0)
    return here;
  return here % size == 0 ? std::optional(size) : std::nullopt;
}

/// The map with a box for `tile`, whose positions follow each other in its order.
std::optional<TileMap> withBox(TileMap map, ArrayRef<Reach> tile) {
  SmallVector<unsigned> order, wanted;
  for (const Reach &reach : tile)
    if (reach.positions > 1)
      wanted.push_back(reach.axis);
  for (const TileMap::Dimension &dimension : map.dimensions) {
    int64_t box = 1, stride = 1;
    for (const auto &[axis, factor, behind, size] : dimension.terms) {
      const auto *reach = llvm::find_if(tile, [&, each = axis](const Reach &other) { return other.axis == each; });
      if (reach == tile.end() || reach->positions == 1)
        continue;
      if (behind > 1 || size != 0) {
        const std::optional<int64_t> part = partOf(reach->positions, behind, size);
        if (!reach->isInSteps || !part || box != 1)
          return std::nullopt;
        box = *part;
        if (box > 1 && (order.empty() || order.back() != axis))
          order.push_back(axis);
        continue;
      }
      if (box != 1 || factor < 1 || factor > kMostStride)
        return std::nullopt;
      stride = factor;
      box = (reach->positions - 1) * stride + 1;
      order.push_back(axis);
    }
    if (box > kMostOfBox)
      return std::nullopt;
    map.box.push_back(box);
    map.strides.push_back(stride);
  }
  // Rows of a box are those of the tile.
  const bool hasRows = map.box.back() == tile.back().positions && map.strides.back() == 1;
  return order == wanted && hasRows ? std::optional(map) : std::nullopt;
}

/// Whether steps on an axis read nothing but zeros behind its end: none goes so far, or the tensor ends there too. A
/// slice has neighbours behind it, which are no part of a sum, and may be no numbers.
bool endsInZeros(const GroupShape &shape, const TileMap &map, const KernelTensor &tensor, unsigned axis, int64_t step) {
  const std::optional<int64_t> size = shape.axes[axis].size;
  if (size && *size % step == 0)
    return true;
  const size_t merged = tensor.shape.size() - map.dimensions.size(); // of the outermost ones
  for (auto [number, dimension] : llvm::enumerate(map.dimensions)) {
    const bool isMerged = merged != 0 && number == 0 && dimension.terms.size() > 1;
    if (isMerged &&
        llvm::any_of(dimension.terms, [&](const TileMap::Dimension::Term &term) { return term.axis == axis; }))
      return false; // the next position of the dimension in front lies there
    if (dimension.terms.size() != 1 || dimension.terms.front().axis != axis)
      continue;
    const TileMap::Dimension::Term &term = dimension.terms.front();
    const bool isWhole = dimension.offset == 0 && term.factor == 1;
    const Extent &extent = tensor.shape[merged + number];
    const bool isBehind = size && !extent.value && dimension.offset + *size * term.factor >= extent.size;
    if (!isWhole && !isBehind)
      return false;
  }
  return true;
}

bool hasAxis(const TileMap &map, unsigned axis) {
  return llvm::any_of(map.dimensions, [&](const TileMap::Dimension &dimension) {
    return llvm::any_of(dimension.terms, [&](const TileMap::Dimension::Term &term) { return term.axis == axis; });
  });
}

} // namespace

std::optional<TileMap> mapOf(const GroupShape &shape, const Product &product, const Operand &operand, uint32_t side,
                             uint32_t depth, uint32_t parts) {
  // Tensor cores turn only elements of 16 bits.
  const bool liesAsRead =
      operand.isAlongReduced || operand.value.getType().getIntOrFloatBitWidth() == 16 || product.isReadAcross(operand);
  if (!operand.isCopied() || !liesAsRead || operand.across.empty() || (product.routes && &operand == &product.left))
    return std::nullopt;
  // Of a plain one that is shifted, all that moves it are whole vectors (Product::ofOperation).
  const bool isShifted =
      operand.plain && shape.along(operand.tensor(), product.op->op, operand.vectorAxis) == GroupShape::Along::Shifted;
  std::optional<TileMap> map = wholeMap(shape, *product.op, operand.tensor(), operand.vectorAxis,
                                        isShifted ? Begins::AtVectors : Begins::AtRows);
  if (map && operand.border)
    map->expert = operand.border->expert;
  if (!map || !hasAxis(*map, product.reduced.back()) ||
      !endsInZeros(shape, *map, operand.tensor(), product.reduced.back(), depth))
    return std::nullopt;
  map->across = operand.isAlongReduced ? side / parts : std::min(side, elementsInRow(map->element));
  SmallVector<Reach> across, reduced = {{product.reduced.back(), depth, /*isInSteps=*/true}};
  if (operand.across.size() == 1) {
    across.push_back({operand.across.front(), map->across});
  } else if (operand.isAlongReduced && &operand == &product.left) {
    const Patches patches = parts == 1 ? patchesOfRows(shape, product, side) : Patches();
    if (!patches)
      return std::nullopt;
    for (auto [axis, positions] : llvm::zip_equal(operand.across, patches.sides))
      across.push_back({axis, positions, /*isInSteps=*/true});
  } else {
    // Boxes that lie on one position of the outer axes.
    const std::optional<int64_t> inRow = shape.axes[operand.across.back()].size;
    if (inRow && operand.isAlongReduced)
      map->across = uint32_t(std::gcd(int64_t(map->across), *inRow));
    if (!inRow || *inRow % map->across != 0 || map->across % kRowsOfSwizzle != 0)
      return std::nullopt;
    across.push_back({operand.across.back(), map->across, /*isInSteps=*/true});
  }
  const bool mayEndInBox = !operand.isAlongReduced && operand.across.size() == 1; // who multiplies reads some of it
  map->boxes = mayEndInBox ? uint32_t(llvm::divideCeil(side, map->across)) : side / map->across;
  if (map->boxes % parts != 0)
    return std::nullopt;
  if (product.reduced.size() != 1) {
    const Patches patches = patchesOfReduced(shape, product, depth);
    if (!patches)
      return std::nullopt;
    map->boxesDeep = depth / uint32_t(patches.size());
    if (liesAcross(product)) {
      reduced.clear();
      for (auto [axis, positions] : llvm::zip_equal(product.reduced, patches.sides))
        reduced.push_back({axis, positions});
    }
  }
  if (!llvm::all_of(across, [&](const Reach &reach) { return hasAxis(*map, reach.axis); }))
    return std::nullopt;
  if (Type element = product.warpElement(); element && element.isTF32())
    map->element = element;
  SmallVector<Reach> tile = operand.isAlongReduced ? across : reduced;
  llvm::append_range(tile, operand.isAlongReduced ? reduced : across);
  return withBox(*map, tile);
}

/// Whether the last of several tiles has a box without any position.
static bool lacksBox(int64_t size, uint32_t side, uint32_t inBox) {
  const int64_t last = size % side;
  return last != 0 && llvm::divideCeil(uint64_t(last), inBox) < llvm::divideCeil(side, inBox);
}

std::optional<TileMap> tightMapOf(const GroupShape &shape, const Product &product, const Operand &operand,
                                  uint32_t side, uint32_t depth, uint32_t parts) {
  constexpr uint32_t kBox = 64;
  if (operand.across.size() != 1 || product.routes)
    return mapOf(shape, product, operand, side, depth, parts);
  const std::optional<int64_t> size = shape.axes[operand.across.front()].size;
  if (size && *size > 0 && *size < side) {
    // Of one box any number of rows; parts begin where the swizzle does.
    const uint32_t inBox = !operand.isAlongReduced ? elementsInRow(operand.value.getType())
                           : parts > 1             ? kRowsOfSwizzle
                                                   : 1;
    const uint64_t step = uint64_t(parts) * inBox;
    return mapOf(shape, product, operand, std::min(side, uint32_t(llvm::alignTo(uint64_t(*size), step))), depth, parts);
  }
  if (size && !operand.isAlongReduced && &operand == &product.right && parts == 1) {
    std::optional<TileMap> map = mapOf(shape, product, operand, side, depth);
    if (map)
      map->mayLack = lacksBox(*size, side, map->across);
    return map;
  }
  const bool mayLack =
      operand.isAlongReduced && &operand == &product.left && parts == 1 && side > kBox && !(size && *size % side == 0);
  if (!mayLack)
    return mapOf(shape, product, operand, side, depth, parts);
  std::optional<TileMap> map = mapOf(shape, product, operand, side, depth, side / kBox);
  if (map)
    map->mayLack = true;
  return map;
}

uint32_t columnsOfStage(const Operand &right, uint32_t columns) {
  constexpr uint32_t kInBox = 64;
  const bool isInBoxes = !right.isAlongReduced && right.value.getType().getIntOrFloatBitWidth() == 16;
  return isInBoxes ? uint32_t(llvm::alignTo<kInBox>(columns)) : columns;
}

std::optional<TileMap> resultMapOf(const GroupShape &shape, const Product &product, const KernelOp &op,
                                   const KernelTensor &tensor, uint32_t rows, uint32_t columns) {
  if (product.routes || product.rows.size() != 1 || product.columns.size() != 1 ||
      columns != elementsInRow(tensor.element))
    return std::nullopt;
  const unsigned row = product.rows.front(), column = product.columns.front();
  std::optional<TileMap> map = wholeMap(shape, op, tensor, column);
  if (!map || !hasAxis(*map, row))
    return std::nullopt;
  map->across = columns;
  return withBox(*map, {{row, rows}, {column, columns}});
}

SmallVector<Value> TileMap::beginAt(KernelBuilder &k, const Point &point, Value of) const {
  return beginAt(k, [&](unsigned axis) { return point.index[axis]; }, of);
}

SmallVector<Value> TileMap::beginAt(KernelBuilder &k, llvm::function_ref<Value(unsigned)> positionOn, Value of) const {
  SmallVector<Value> positions;
  for (auto [number, dimension] : llvm::enumerate(dimensions)) {
    Value position = expert == number ? of : k.number(dimension.offset);
    for (const auto &[axis, factor, behind, size] : dimension.terms) {
      Value part = positionOn(axis);
      if (behind != 1)
        part = k.div(part, k.number(behind));
      if (size != 0)
        part = k.rem(part, k.number(size));
      position = k.add(position, k.mul(part, k.number(factor)));
    }
    positions.push_back(position);
  }
  return positions;
}

Type TileMap::type(MLIRContext *context) const {
  const bool isDense = llvm::all_of(strides, [](int64_t stride) { return stride == 1; });
  SmallVector<uint32_t> elementStrides;
  if (!isDense)
    elementStrides.assign(strides.begin(), strides.end());
  return hal::TensorMapType::get(context, binding, box, element, elementStrides,
                                 uint32_t(abi::TensorMapInterleave::None), uint32_t(abi::TensorMapSwizzle::B128),
                                 uint32_t(expert ? abi::TensorMapPromotion::L2B256 : abi::TensorMapPromotion::L2B128),
                                 uint32_t(abi::TensorMapFill::Zeros), kMapAlignment, /*isOptional=*/true);
}

void storeBox(KernelBuilder &k, Value map, ArrayRef<Value> begin, Value place, bool isAdded) {
  const size_t rank = begin.size();
  std::string coordinates, constraints = "l,r";
  SmallVector<Value> operands = {map, k.word(place)};
  for (size_t i = 0; i < rank; ++i) {
    coordinates += (i == 0 ? "$" : ", $") + std::to_string(operands.size());
    operands.push_back(k.word(begin[rank - 1 - i]));
    constraints += ",r";
  }
  k.assembly(std::string(isAdded ? "cp.reduce" : "cp") + ".async.bulk.tensor." + std::to_string(rank) +
                 "d.global.shared::cta" + (isAdded ? ".add" : "") + ".bulk_group [$0, {" + coordinates + "}], [$1];",
             operands, constraints);
}

} // namespace tenon::compiler::codegen
