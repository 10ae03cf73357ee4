// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/scatter_places.h"

#include "compiler/dispatch/prepare/narrow_indices.h"

using namespace mlir;

namespace tenon::compiler::codegen {

ScatterShape::ScatterShape(const KernelFunction &kernel) {
  auto op = cast<linalg_ext::ScatterOp>(kernel.along.op);
  auto typeOf = [](Value value) { return cast<RankedTensorType>(value.getType()); };
  const KernelTensor &updates = kernel.along.inputs[0], &tensor = kernel.along.outputs[0].tensor;
  depth = unsigned(op.getDimensionMap().size());
  const int64_t batchRank = linalg_ext::batchRankOf(typeOf(op.getInputs()[1]), typeOf(op.getInputs()[0]),
                                                    typeOf(op.getOutputs()[0]), depth, /*mayOverlap=*/true);
  hasDepth = typeOf(op.getInputs()[1]).getRank() > batchRank;
  batch.assign(updates.shape.begin(), updates.shape.begin() + batchRank);
  slice.assign(updates.shape.begin() + batchRank, updates.shape.end());
  sliceRank = slice.size();
  overlaps = linalg_ext::slicesMayOverlap(op);
  const unsigned rank = tensor.shape.size();
  for (unsigned dimension = 0; dimension < rank; ++dimension)
    // One that is sliced, but not as a whole, leaves elements that no slice has: they are in no key.
    if (llvm::is_contained(op.getDimensionMap(), int64_t(dimension)))
      keys.push_back(tensor.shape[dimension]);
}

ScatterPlaces::ScatterPlaces(AlongWriter &w, const ScatterShape &shape)
    : w_(w), k_(w.k), shape_(shape), map_(cast<linalg_ext::ScatterOp>(w.kernel.along.op).getDimensionMap()) {
  auto product = [&](ArrayRef<Extent> extents) {
    Value size = k_.number(1);
    for (const Extent &extent : extents)
      size = k_.mul(size, w_.arguments.sizeOf(k_.b, k_.loc, extent));
    return size;
  };
  updates = product(shape.batch);
  elements = product(shape.slice);
  keys = product(shape.keys);
  for (const Extent &extent : w.kernel.along.outputs[0].tensor.shape)
    sizes_.push_back(w.arguments.sizeOf(k_.b, k_.loc, extent));
  for (const Extent &extent : shape.slice)
    sliceSizes_.push_back(w.arguments.sizeOf(k_.b, k_.loc, extent));
}

SmallVector<Value> ScatterPlaces::indicesOf(Value update) {
  SmallVector<Value> indices;
  for (unsigned i = 0; i < shape_.depth; ++i) {
    Value at = shape_.hasDepth ? k_.add(k_.mul(update, k_.number(shape_.depth)), k_.number(i)) : update;
    Value index = w_.load(w_.kernel.along.inputs[1], at);
    if (index.getType() != k_.b.getI64Type())
      index = w_.kernel.along.op->hasAttr(dispatch::kUnsignedAttr)
                  ? arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(), index).getResult()
                  : arith::ExtSIOp::create(k_.b, k_.loc, k_.b.getI64Type(), index).getResult();
    indices.push_back(index);
  }
  return indices;
}

SmallVector<Value> ScatterPlaces::slicePosition(Value sliceElement) {
  SmallVector<Value> position(shape_.sliceRank);
  for (unsigned i = shape_.sliceRank; i-- > 0;) {
    position[i] = i == 0 ? sliceElement : k_.rem(sliceElement, sliceSizes_[i]);
    if (i != 0)
      sliceElement = k_.div(sliceElement, sliceSizes_[i]);
  }
  return position;
}

ScatterPlaces::Place ScatterPlaces::within(ArrayRef<Value> position, ArrayRef<unsigned> dimensions) {
  Value element = k_.number(0), isInside = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(true));
  for (auto [at, dimension] : llvm::zip_equal(position, dimensions)) {
    element = k_.add(k_.mul(element, sizes_[dimension]), at);
    isInside = k_.both(isInside, k_.less(at, sizes_[dimension])); // of a negative one, too
  }
  return {element, isInside};
}

ScatterPlaces::Place ScatterPlaces::placeOf(ArrayRef<Value> indices, Value sliceElement) {
  const unsigned rank = sizes_.size();
  SmallVector<Value> position(rank, k_.number(0));
  for (auto [i, at] : llvm::enumerate(slicePosition(sliceElement)))
    position[rank - shape_.sliceRank + i] = at;
  for (auto [index, dimension] : llvm::zip_equal(indices, map_))
    position[dimension] = k_.add(position[dimension], index);
  return within(position, llvm::to_vector(llvm::seq<unsigned>(rank)));
}

ScatterPlaces::Place ScatterPlaces::keyOf(ArrayRef<Value> indices) {
  SmallVector<unsigned> dimensions;
  SmallVector<Value> position;
  for (unsigned dimension = 0; dimension < sizes_.size(); ++dimension)
    if (const int64_t *named = llvm::find(map_, int64_t(dimension)); named != map_.end()) {
      dimensions.push_back(dimension);
      position.push_back(indices[named - map_.begin()]);
    }
  return within(position, dimensions);
}

Value ScatterPlaces::fits(Value sliceElement) {
  const KernelTensor &tensor = w_.kernel.along.outputs[0].tensor;
  Value fits = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(true));
  for (auto [i, at] : llvm::enumerate(slicePosition(sliceElement))) {
    const unsigned dimension = sizes_.size() - shape_.sliceRank + i;
    const Extent &slice = shape_.slice[i], &whole = tensor.shape[dimension];
    const bool isKnown = !slice.value && !whole.value && slice.size <= whole.size;
    if (!isKnown && !llvm::is_contained(map_, int64_t(dimension)))
      fits = k_.both(fits, k_.less(at, sizes_[dimension]));
  }
  return fits;
}

Value ScatterPlaces::elementOf(Value key, Value sliceElement) {
  const unsigned rank = sizes_.size();
  SmallVector<Value> position(rank, k_.number(0));
  for (unsigned dimension = rank; dimension-- > 0;)
    if (llvm::is_contained(map_, int64_t(dimension))) {
      position[dimension] = k_.rem(key, sizes_[dimension]);
      key = k_.div(key, sizes_[dimension]);
    }
  // Along a named dimension such a slice has one element.
  for (auto [i, at] : llvm::enumerate(slicePosition(sliceElement)))
    if (!llvm::is_contained(map_, int64_t(rank - shape_.sliceRank + i)))
      position[rank - shape_.sliceRank + i] = at;
  Value element = k_.number(0);
  for (unsigned dimension = 0; dimension < rank; ++dimension)
    element = k_.add(k_.mul(element, sizes_[dimension]), position[dimension]);
  return element;
}

} // namespace tenon::compiler::codegen
