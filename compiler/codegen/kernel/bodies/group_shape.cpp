// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/bodies/group_shape.h"

#include "compiler/codegen/kernel/joined_axes.h"
#include "compiler/dispatch/analysis/groups/form_group.h"
#include "compiler/dispatch/analysis/groups/gates.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/reduction_body.h"

using namespace mlir;
using tenon::compiler::dispatch::Group;
using tenon::compiler::dispatch::loopOf;

namespace tenon::compiler::codegen {
namespace {

/// The axes of the tensor that has most of them come first, in its order, then those of the next. Of two with as many,
/// one that says the order of all of its axes comes before a window, which does not.
SmallVector<unsigned> orderOf(const Group &group, ArrayRef<Access> accesses) {
  SmallVector<SmallVector<unsigned>> axesOf;
  for (const Access &access : accesses) {
    SmallVector<unsigned> &seen = axesOf.emplace_back();
    for (AffineExpr expr : access.tensor->map.getResults())
      if (std::optional<unsigned> loop = loopOf(expr))
        if (unsigned axis = group.axisOf.lookup(access.op)[*loop]; !llvm::is_contained(seen, axis))
          seen.push_back(axis);
  }
  SmallVector<unsigned> most = llvm::to_vector(llvm::seq<unsigned>(0, axesOf.size()));
  auto isWindow = [&](unsigned access) {
    return llvm::any_of(accesses[access].tensor->map.getResults(), [](AffineExpr expr) { return !loopOf(expr); });
  };
  llvm::sort(most, [&](unsigned x, unsigned y) {
    return std::tuple(axesOf[y].size(), isWindow(x), x) < std::tuple(axesOf[x].size(), isWindow(y), y);
  });
  SmallVector<unsigned> order;
  for (unsigned access : most)
    for (unsigned axis : axesOf[access])
      if (!llvm::is_contained(order, axis))
        order.push_back(axis);
  for (unsigned axis = 0; axis < group.numAxes(); ++axis)
    if (!llvm::is_contained(order, axis))
      order.push_back(axis);
  SmallVector<unsigned> sorted; // parallel axes, then reduced ones
  for (bool reduced : {false, true})
    llvm::copy_if(order, std::back_inserter(sorted), [&](unsigned axis) { return group.isReduced[axis] == reduced; });
  return sorted;
}

// Rows shorter than this are not worth a vector of their own.
constexpr int64_t kShortRow = 16;
// Elements of 16 bytes.
constexpr int64_t kWidestVector = 8;

/// Whether some windows slide along the axis, whose border a body asks for.
bool hasBorder(const Group &group, unsigned axis) {
  return llvm::any_of(group.ops, [&](linalg::GenericOp op) {
    std::optional<unsigned> loop = loopOn(group, op, axis);
    return loop && op.getNumReductionLoops() != 0 && readsByIndex(op, *loop);
  });
}

/// Whether threads that reduce rows see their elements again: of such rows a tensor may have some axes alone.
bool areSeenAgain(const KernelFunction &kernel, const Group &group) {
  return !kernel.softmax && !group.chained && llvm::any_of(group.ops, [&](linalg::GenericOp op) {
    return op.getNumReductionLoops() == 0 && group.coversAllAxes(op);
  });
}

/// Whether neighbours on the axes from one on, of which the last is behind all others in memory, are no whole vectors:
/// rows that end between them are worth being one with those before.
bool endsBetweenVectors(ArrayRef<Extent> extents) {
  const std::optional<int64_t> size = knownProduct(extents);
  return !size || (*size >= kShortRow && *size % kWidestVector != 0);
}

/// Whether the row of a tensor that numbers alone choose, x[1, j], begins where a vector does. Rows that loops choose
/// are looked at by whoever walks them: each has to be whole vectors.
bool beginsAtVector(const KernelTensor &tensor) {
  constexpr int64_t kVectorBytes = 16;
  std::optional<int64_t> stride = 1;
  int64_t begin = 0;
  for (size_t dimension = tensor.shape.size(); dimension-- > 0;) {
    const Extent &extent = tensor.shape[dimension];
    auto place = dyn_cast<AffineConstantExpr>(tensor.map.getResult(dimension));
    if (place && place.getValue() != 0) {
      if (!stride)
        return false;
      begin += place.getValue() * *stride;
    }
    stride = stride && !extent.value ? std::optional(*stride * extent.size) : std::nullopt;
  }
  return begin * dispatch::elementBytes(tensor.element) % kVectorBytes == 0;
}

/// Whether a mask hides keys by the number of a query, and queries of a head are many and no whole tiles: heads that
/// share their keys may be computed one by one then (attention/apart_heads.h).
bool isQueryOfHead(const KernelFunction &kernel, const Group &group, unsigned axis, const Extent &extent) {
  if (group.isReduced[axis] || (!extent.value && (extent.size <= kFewQueries || extent.size % kQueryTile == 0)))
    return false;
  linalg::SoftmaxOp softmax = kernel.softmax;
  linalg::GenericOp logits = softmax ? softmax.getInput().getDefiningOp<linalg::GenericOp>() : group.chained;
  const std::optional<unsigned> loop = logits ? loopOn(group, logits, axis) : std::nullopt;
  return loop && llvm::any_of(logits.getBody()->getOps<linalg::IndexOp>(),
                              [&](linalg::IndexOp index) { return index.getDim() == *loop; });
}

Extent extentOf(const KernelFunction &kernel, const Group &group, unsigned axis) {
  Extent found;
  bool any = false;
  for (const KernelOp &op : kernel.ops)
    if (std::optional<unsigned> loop = loopOn(group, op.op, axis))
      if (!any || found.value) {
        found = op.loops[*loop];
        any = true;
      }
  return found;
}

} // namespace

std::optional<int64_t> knownProduct(ArrayRef<Extent> extents) {
  int64_t product = 1;
  for (const Extent &extent : extents) {
    if (extent.value)
      return std::nullopt;
    product *= extent.size;
  }
  return product;
}

GroupShape GroupShape::of(const KernelFunction &kernel) {
  SmallVector<linalg::GenericOp> ops;
  for (const KernelOp &op : kernel.ops)
    ops.push_back(op.op);
  std::string reason;
  std::optional<Group> group = dispatch::groupOf(ops, reason);
  assert(group && "KernelFunction::read() has seen to it");
  GroupShape shape;
  shape.group = std::move(*group);
  const SmallVector<Access> accesses = accessesOf(kernel);
  // Keys of several heads are walked one head behind the other.
  const bool areTwins = shape.group.chained && shape.group.chained->getNumResults() > 1;
  std::optional<unsigned> unrolled; // stays an axis of its own
  if (ops.size() == 1)
    if (std::optional<unsigned> loop = dispatch::unrolledLoopOf(ops[0]))
      unrolled = shape.group.axisOf.lookup(ops[0])[*loop];
  const bool mayEnd = areSeenAgain(kernel, shape.group);
  SmallVector<unsigned> order = orderOf(shape.group, accesses);
  const std::optional<unsigned> gates =
      dispatch::readsGates(shape.group) ? dispatch::gatesAxisOf(shape.group) : std::nullopt;
  if (gates) { // behind the other parallel ones
    order.erase(llvm::find(order, *gates));
    order.insert(llvm::find_if(order, [&](unsigned axis) { return bool(shape.group.isReduced[axis]); }), *gates);
  }
  for (auto [number, axis] : llvm::enumerate(order)) {
    Extent extent = extentOf(kernel, shape.group, axis);
    if (axis == gates) {
      shape.gates = extent.size;
      shape.gatesAxis = shape.axes.size();
      extent.size = int64_t(llvm::PowerOf2Ceil(uint64_t(extent.size)));
    }
    const SmallVector<Extent> behind = llvm::map_to_vector(
        ArrayRef(order).drop_front(number), [&](unsigned each) { return extentOf(kernel, shape.group, each); });
    const bool mayEndHere = mayEnd && shape.group.isReduced[axis] && endsBetweenVectors(behind);
    // Of windows, results beside each other on several axes are computed together (strategies/windows).
    const bool isShort = !extent.value && extent.size < kShortRow && !hasBorder(shape.group, axis);
    // Behind vectors that a body reads, short axes are turned (strategies/transposes/short_turns).
    const std::optional<int64_t> turned = knownProduct(behind);
    const bool isBehindVectors = ops.size() == 1 && !shape.group.hasReduction() && !shape.axes.empty() && turned &&
                                 *turned <= kShortRow && !shape.axes.back().extents.back().value &&
                                 shape.axes.back().extents.back().size % kWidestVector == 0 &&
                                 isReadAlong(shape.group, shape.axes.back().axes.back());
    if (shape.axes.empty() || isBehindVectors ||
        !areOne(shape.group, accesses, shape.axes.back().axes.back(), axis, mayEndHere) ||
        (!isShort && isReadByIndex(shape.group, axis) &&
         !areReadTogether(kernel, shape.group, shape.axes.back().axes.back(), axis)) ||
        isQueryOfHead(kernel, shape.group, axis, extent) || axis == gates || axis == unrolled ||
        shape.axes.back().axes.back() == unrolled || (areTwins && shape.group.isReduced[axis]))
      shape.axes.push_back({{}, {}, shape.group.isReduced[axis], 1});
    SpaceAxis &last = shape.axes.back();
    last.axes.push_back(axis);
    last.extents.push_back(extent);
    last.size = last.size && !extent.value ? std::optional(*last.size * extent.size) : std::nullopt;
  }
  shape.parallel = llvm::count_if(shape.axes, [](const SpaceAxis &axis) { return !axis.isReduced; });
  for (auto [number, axis] : llvm::enumerate(shape.axes))
    for (const Access &access : accesses)
      if (std::optional<unsigned> prefix = shape.prefixOf(*access.tensor, access.op, number);
          prefix && !llvm::is_contained(axis.prefixes, *prefix))
        axis.prefixes.push_back(*prefix);
  return shape;
}

std::optional<int64_t> GroupShape::sizeOf(ArrayRef<SpaceAxis> axes) {
  int64_t size = 1;
  for (const SpaceAxis &axis : axes) {
    if (!axis.size)
      return std::nullopt;
    size *= *axis.size;
  }
  return size;
}

std::optional<int64_t> GroupShape::sizeOf(ArrayRef<unsigned> numbers) const {
  return sizeOf(llvm::map_to_vector(numbers, [&](unsigned number) { return axes[number]; }));
}

GroupShape::Along GroupShape::along(const KernelTensor &tensor, linalg::GenericOp op, unsigned axis) const {
  bool touches = false;
  if (axis >= axes.size())
    return Along::Same;
  for (unsigned groupAxis : axes[axis].axes)
    if (std::optional<unsigned> loop = loopOn(group, op, groupAxis))
      touches |= llvm::any_of(tensor.map.getResults(), [&](AffineExpr expr) { return expr.isFunctionOfDim(*loop); });
  if (!touches)
    return Along::Same;
  const unsigned innermost = axes[axis].axes.back();
  if (tensor.map.isProjectedPermutation(/*allowZeroInResults=*/true)) {
    std::optional<unsigned> last = loopOf(tensor.map.getResults().back());
    return last && group.axisOf.lookup(op)[*last] == innermost ? Along::Adjacent : Along::Apart;
  }
  // Rows of a window: they begin where rows of the tensor do.
  std::optional<unsigned> last = loopOf(tensor.map.getResults().back());
  const bool isRow =
      last && axes[axis].axes.size() == 1 && group.axisOf.lookup(op)[*last] == innermost &&
      llvm::none_of(tensor.map.getResults().drop_back(), [&](AffineExpr expr) { return expr.isFunctionOfDim(*last); });
  if (isRow)
    return axes.size() > 1 || beginsAtVector(tensor) ? Along::Adjacent : Along::Shifted;
  // Elsewhere than where the axis stands last, alone: neither another dimension moves with it, nor this one faster.
  std::optional<unsigned> loop = loopOn(group, op, innermost);
  if (!loop || axes[axis].axes.size() != 1)
    return Along::Apart;
  AffineExpr rest = tensor.map.getResults().back() - getAffineDimExpr(*loop, tensor.map.getContext());
  rest = simplifyAffineExpr(rest, tensor.map.getNumDims(), 0);
  const bool isAlone =
      llvm::none_of(tensor.map.getResults().drop_back(), [&](AffineExpr expr) { return expr.isFunctionOfDim(*loop); });
  return isAlone && !rest.isFunctionOfDim(*loop) ? Along::Shifted : Along::Apart;
}

std::optional<int64_t> GroupShape::sharedBy(const KernelTensor &tensor, linalg::GenericOp op, unsigned axis) const {
  if (axis >= axes.size() || axes[axis].axes.size() != 1 || tensor.map.getNumResults() == 0)
    return std::nullopt;
  std::optional<unsigned> loop = loopOn(group, op, axes[axis].axes.front());
  auto last = dyn_cast<AffineBinaryOpExpr>(tensor.map.getResults().back());
  if (!loop || !last || last.getKind() != AffineExprKind::FloorDiv || loopOf(last.getLHS()) != loop)
    return std::nullopt;
  auto shared = dyn_cast<AffineConstantExpr>(last.getRHS());
  const bool isAlone =
      llvm::none_of(tensor.map.getResults().drop_back(), [&](AffineExpr expr) { return expr.isFunctionOfDim(*loop); });
  return isAlone && shared && shared.getValue() > 1 ? std::optional(shared.getValue()) : std::nullopt;
}

std::optional<unsigned> GroupShape::prefixOf(const KernelTensor &tensor, linalg::GenericOp op, unsigned axis) const {
  if (axis >= axes.size() || axes[axis].axes.size() < 2)
    return std::nullopt;
  unsigned prefix = 0;
  for (unsigned groupAxis : axes[axis].axes)
    if (std::optional<unsigned> loop = loopOn(group, op, groupAxis); loop && dimensionOn(tensor.map, *loop))
      ++prefix;
  return prefix != 0 && prefix != axes[axis].axes.size() ? std::optional(prefix) : std::nullopt;
}

std::optional<unsigned> GroupShape::axisOf(linalg::GenericOp op, ArrayRef<unsigned> loops) const {
  const SmallVector<unsigned> all = group.axisOf.lookup(op);
  const SmallVector<unsigned> wanted = llvm::map_to_vector(loops, [&](unsigned loop) { return all[loop]; });
  for (auto [number, axis] : llvm::enumerate(axes))
    if (ArrayRef(axis.axes) == ArrayRef(wanted))
      return unsigned(number);
  return std::nullopt;
}

bool GroupShape::hasWhole(const KernelTensor &tensor, unsigned axis, unsigned dimension) const {
  const ArrayRef<Extent> inner = ArrayRef(axes[axis].extents).drop_front();
  return llvm::all_of(llvm::zip(inner, ArrayRef(tensor.shape).drop_front(dimension + 1)),
                      [](auto both) { return areEqual(std::get<0>(both), std::get<1>(both)); });
}

AffineMap GroupShape::mapOf(const KernelTensor &tensor, linalg::GenericOp op) const {
  SmallVector<AffineExpr> dims;
  for (unsigned axis : group.axisOf.lookup(op))
    dims.push_back(getAffineDimExpr(axis, tensor.map.getContext()));
  return tensor.map.replaceDimsAndSymbols(dims, {}, group.numAxes(), 0);
}

uint32_t vectorWidth(const KernelFunction &kernel, const GroupShape &shape, unsigned axis) {
  uint32_t widest = 0;
  for (const Access &access : accessesOf(kernel)) {
    const GroupShape::Along along = shape.along(*access.tensor, access.op, axis);
    if (along == GroupShape::Along::Adjacent || along == GroupShape::Along::Shifted)
      widest = std::max(widest, dispatch::elementBytes(access.tensor->element));
  }
  return widest == 0 ? 1 : 16 / std::max(widest, 2u);
}

} // namespace tenon::compiler::codegen
