// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/bodies/group_space.h"

#include "mlir/Dialect/Affine/Utils.h"

using namespace mlir;

namespace tenon::compiler::codegen {

GroupSpace::GroupSpace(KernelBuilder &k, const GroupShape &shape, const KernelArguments &arguments)
    : k_(k), shape_(shape), arguments_(arguments) {
  findSizes();
  for (const SpaceAxis &axis : shape.axes)
    reciprocals_.push_back(arguments.reciprocals.lookup(reciprocalKey(k.b, axis.extents)));
}

void GroupSpace::findSizes() {
  sizes_.clear();
  for (const SpaceAxis &axis : shape_.axes) {
    Value size = k_.number(1);
    for (const Extent &extent : axis.extents)
      size = k_.mul(size, arguments_.sizeOf(k_.b, k_.loc, extent));
    sizes_.push_back(size);
  }
}

void GroupSpace::inWords(llvm::function_ref<void()> body) {
  const SmallVector<Value> before = sizes_;
  k_.inWords([&] {
    findSizes(); // again: by words
    body();
  });
  sizes_ = before;
}

Value GroupSpace::size(unsigned first, unsigned last) {
  Value product = k_.number(1);
  for (unsigned axis = first; axis < last; ++axis)
    product = k_.mul(product, sizes_[axis]);
  return product;
}

Quotient GroupSpace::divide(Value number, unsigned first, unsigned last) {
  Value reciprocal = last == first + 1 ? reciprocals_[first] : Value();
  return (k_.isInWords() ? divideWords : codegen::divide)(k_, number, size(first, last), reciprocal);
}

// So many elements have numbers of 32 bits, with those that threads behind the last one would have.
static constexpr int64_t kMostOfWords = int64_t(1) << 31;

void GroupSpace::place(Point &point, unsigned first, unsigned last, Value linear) {
  point.index.resize(sizes_.size());
  auto by = [&](auto divided) {
    SmallVector<Value> indices(last - first);
    Value rest = linear;
    for (unsigned axis = last; axis-- > first + 1;) {
      const Quotient found = divided(rest, axis);
      indices[axis - first] = found.remainder;
      rest = found.quotient;
    }
    if (first != last)
      indices.front() = rest;
    return indices;
  };
  auto byAll = [&] { return by([&](Value x, unsigned axis) { return divide(x, axis, axis + 1); }); };
  auto byWords = [&] {
    return by([&](Value x, unsigned axis) { return divideWords(k_, x, sizes_[axis], reciprocals_[axis]); });
  };
  SmallVector<Value> words = {linear};
  bool hasReciprocal = false;
  for (unsigned axis = first + 1; axis < last; ++axis) {
    words.push_back(sizes_[axis]);
    hasReciprocal |= bool(reciprocals_[axis]);
  }
  // Of sizes that are known it is seen now.
  const std::optional<int64_t> elements = GroupShape::sizeOf(ArrayRef(shape_.axes).slice(first, last - first));
  const bool areAllWords = k_.isInWords() || (elements && *elements <= kMostOfWords);
  const SmallVector<Value> indices =
      areAllWords ? byWords()
      : hasReciprocal
          ? k_.choose(areWords(k_, words), SmallVector<Type>(last - first, k_.b.getI64Type()), byWords, byAll)
          : byAll();
  llvm::copy(indices, point.index.begin() + first);
}

bool GroupSpace::isInOrder(AffineMap map) const {
  SmallVector<unsigned> order;
  for (const SpaceAxis &axis : shape_.axes)
    llvm::append_range(order, axis.axes);
  return map.getNumResults() == order.size() && llvm::all_of(llvm::zip_equal(map.getResults(), order), [](auto both) {
           auto [expr, axis] = both;
           return dispatch::loopOf(expr) == std::optional(axis);
         });
}

/// @param indices [axes], of `type`
Value GroupSpace::offsetIn(AffineMap order, ArrayRef<Value> indices, Type type) {
  auto cast = [&](Value size) -> Value {
    return type.isInteger(64) ? size : arith::TruncIOp::create(k_.b, k_.loc, type, size).getResult();
  };
  Value offset, stride;
  // An axis of the kernel may be several neighbours of the tensor.
  for (size_t result = order.getNumResults(); result-- > 0;) {
    const unsigned last = *dispatch::loopOf(order.getResult(result));
    for (auto [number, axis] : llvm::enumerate(shape_.axes)) {
      if (axis.axes.back() != last)
        continue;
      Value term = stride ? arith::MulIOp::create(k_.b, k_.loc, indices[number], stride).getResult() : indices[number];
      offset = offset ? arith::AddIOp::create(k_.b, k_.loc, offset, term).getResult() : term;
      Value size = cast(sizes_[number]);
      stride = stride ? arith::MulIOp::create(k_.b, k_.loc, stride, size).getResult() : size;
    }
  }
  return offset;
}

void GroupSpace::placeAll(Point &point, Value linear, ArrayRef<AffineMap> orders) {
  const size_t axes = sizes_.size();
  Type i32 = k_.b.getI32Type(), i64 = k_.b.getI64Type();
  auto wide = [&](Value value) -> Value { return arith::ExtUIOp::create(k_.b, k_.loc, i64, value); };
  auto by = [&](auto divided, Type type) {
    SmallVector<Value> indices(axes);
    Value rest = linear;
    for (size_t axis = axes; axis-- > 1;) {
      const Quotient found = divided(rest, unsigned(axis));
      indices[axis] = found.remainder;
      rest = found.quotient;
    }
    indices.front() = rest;
    SmallVector<Value> found = indices;
    if (type == i32)
      for (Value &index : indices)
        index = arith::TruncIOp::create(k_.b, k_.loc, i32, index);
    for (AffineMap order : orders)
      found.push_back(type == i32 ? wide(offsetIn(order, indices, i32)) : offsetIn(order, indices, i64));
    return found;
  };
  auto byWords = [&] {
    return by([&](Value x, unsigned axis) { return divideWords(k_, x, sizes_[axis], reciprocals_[axis]); }, i32);
  };
  auto byAny = [&] {
    constexpr int64_t kMostBehind = 1 << 16;
    SmallVector<Value> words(sizes_);
    words.push_back(k_.add(size(0, unsigned(axes)), k_.number(kMostBehind)));
    return k_.choose(areWords(k_, words), SmallVector<Type>(axes + orders.size(), i64), byWords,
                     [&] { return by([&](Value x, unsigned axis) { return divide(x, axis, axis + 1); }, i64); });
  };
  const SmallVector<Value> found = k_.isInWords() ? byWords() : byAny();
  point.index.assign(found.begin(), found.begin() + axes);
  point.linear = linear;
  for (auto [order, offset] : llvm::zip_equal(orders, ArrayRef(found).drop_front(axes)))
    point.offsets.push_back({order, offset});
}

/// What placeAll() has found of the element.
std::optional<Value> GroupSpace::knownElement(const KernelTensor &tensor, linalg::GenericOp op, const Point &point,
                                              unsigned lane) {
  if (!point.linear || (lane != 0 && shape_.along(tensor, op, vectorAxis) != GroupShape::Along::Adjacent))
    return std::nullopt;
  const AffineMap map = shape_.mapOf(tensor, op);
  Value first = isInOrder(map) ? point.linear : Value();
  for (auto &[order, offset] : point.offsets)
    if (order == map)
      first = offset;
  if (!first)
    return std::nullopt;
  return lane == 0 ? first : k_.add(first, k_.number(lane));
}

Value GroupSpace::laneIndex(unsigned axis, const Point &point, unsigned lane) {
  Value index = point.index[axis];
  return axis == vectorAxis && lane != 0 ? k_.add(index, k_.number(lane)) : index;
}

Value GroupSpace::axisIndex(unsigned groupAxis, const Point &point, unsigned lane) {
  for (auto [number, axis] : llvm::enumerate(shape_.axes)) {
    if (!llvm::is_contained(axis.axes, groupAxis))
      continue;
    Value rest = laneIndex(number, point, lane);
    for (size_t inner = axis.axes.size(); inner-- > 0;) {
      if (axis.axes[inner] == groupAxis)
        return inner == 0 ? rest : k_.rem(rest, arguments_.sizeOf(k_.b, k_.loc, axis.extents[inner]));
      rest = k_.div(rest, arguments_.sizeOf(k_.b, k_.loc, axis.extents[inner]));
    }
  }
  llvm_unreachable("every axis of the group is in the space");
}

bool GroupSpace::isVectorLoop(linalg::GenericOp op, unsigned loop) const {
  return vectorAxis < shape_.axes.size() &&
         shape_.axes[vectorAxis].axes == ArrayRef<unsigned>(shape_.group.axisOf.lookup(op)[loop]);
}

Value GroupSpace::loopIndex(linalg::GenericOp op, unsigned loop, const Point &point, unsigned lane) {
  return axisIndex(shape_.group.axisOf.lookup(op)[loop], point, lane);
}

Lanes GroupSpace::loopLanes(linalg::GenericOp op, unsigned loop, const Point &point, unsigned width) {
  const unsigned groupAxis = shape_.group.axisOf.lookup(op)[loop];
  const bool moves = vectorAxis < shape_.axes.size() && llvm::is_contained(shape_.axes[vectorAxis].axes, groupAxis);
  if (width == 1 || !moves)
    return Lanes::same(loopIndex(op, loop, point, 0));
  Lanes lanes;
  for (unsigned lane = 0; lane < width; ++lane)
    lanes.values.push_back(loopIndex(op, loop, point, lane));
  lanes.order = shape_.axes[vectorAxis].axes.size() == 1 ? Order::Run : Order::Any;
  return lanes;
}

Lanes GroupSpace::axisLanes(unsigned axis, const Point &point, unsigned width) {
  if (width == 1 || axis != vectorAxis)
    return Lanes::same(laneIndex(axis, point, 0));
  Lanes lanes;
  for (unsigned lane = 0; lane < width; ++lane)
    lanes.values.push_back(laneIndex(axis, point, lane));
  lanes.order = Order::Run;
  return lanes;
}

Value GroupSpace::position(AffineExpr expr, linalg::GenericOp op, const Point &point, unsigned lane) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return k_.number(constant.getValue());
  SmallVector<Value> loops;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    loops.push_back(expr.isFunctionOfDim(loop) ? arith::IndexCastOp::create(k_.b, k_.loc, k_.b.getIndexType(),
                                                                            loopIndex(op, loop, point, lane))
                                                     .getResult()
                                               : Value());
  Value index = affine::expandAffineExpr(k_.b, k_.loc, expr, loops, {});
  return arith::IndexCastOp::create(k_.b, k_.loc, k_.b.getI64Type(), index);
}

Value GroupSpace::sizeBehind(unsigned axis, unsigned prefix) {
  Value size = k_.number(1);
  for (const Extent &extent : shape_.axes[axis].behind(prefix))
    size = k_.mul(size, arguments_.sizeOf(k_.b, k_.loc, extent));
  return size;
}

Quotient GroupSpace::dividePrefix(unsigned axis, unsigned prefix, Value position) {
  Value reciprocal = arguments_.reciprocals.lookup(reciprocalKey(k_.b, shape_.axes[axis].behind(prefix)));
  return (k_.isInWords() ? divideWords : codegen::divide)(k_, position, sizeBehind(axis, prefix), reciprocal);
}

Value GroupSpace::element(const KernelTensor &tensor, linalg::GenericOp op, const Point &point, unsigned lane,
                          Value prefix) {
  if (std::optional<Value> known = prefix ? std::nullopt : knownElement(tensor, op, point, lane))
    return *known;
  Value offset = k_.number(0), stride = k_.number(1);
  auto step = [&](Value index) { offset = k_.add(offset, k_.mul(index, stride)); };
  for (size_t dimension = tensor.shape.size(); dimension-- > 0;) {
    AffineExpr expr = tensor.map.getResult(dimension);
    if (std::optional<unsigned> loop = dispatch::loopOf(expr)) {
      const unsigned groupAxis = shape_.group.axisOf.lookup(op)[*loop];
      for (auto [number, axis] : llvm::enumerate(shape_.axes))
        if (const std::optional<unsigned> has = shape_.prefixOf(tensor, op, number)) {
          if (axis.axes[*has - 1] == groupAxis)
            step(prefix && number == vectorAxis ? prefix
                                                : dividePrefix(number, *has, laneIndex(number, point, lane)).quotient);
        } else if (axis.axes.back() == groupAxis) { // the whole axis lies in this dimension and those before
          step(laneIndex(number, point, lane));
        }
    } else {
      step(position(expr, op, point, lane));
    }
    if (dimension != 0)
      stride = k_.mul(stride, arguments_.sizeOf(k_.b, k_.loc, tensor.shape[dimension]));
  }
  return offset;
}

} // namespace tenon::compiler::codegen
