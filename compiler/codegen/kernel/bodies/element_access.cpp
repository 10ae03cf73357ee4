// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/bodies/element_access.h"

#include "compiler/codegen/kernel/bodies/gathered.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

std::optional<unsigned> dimensionOf(AffineMap map, unsigned loop) {
  for (auto [position, expr] : llvm::enumerate(map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && dim.getPosition() == loop)
      return position;
  return std::nullopt;
}

} // namespace

ElementAccess::ElementAccess(const KernelFunction &kernel, OpBuilder &builder, Location loc, ValueRange pointers,
                             const llvm::DenseMap<Value, Value> &sizes)
    : kernel_(kernel), b_(builder), loc_(loc), pointers_(pointers), sizes_(sizes) {
  for (const Extent &extent : kernel.only().loops)
    loopSizes_.push_back(sizeOf(extent));
  formAxes();
}

Value ElementAccess::sizeOf(const Extent &extent) {
  return extent.value ? sizes_.lookup(extent.value) : constant(extent.size);
}

bool ElementAccess::indexedTogether(unsigned outer, unsigned inner) const {
  return llvm::all_of(kernel_.tensors(), [&](const KernelTensor *tensor) {
    if (!dispatch::isSimpleMap(tensor->map))
      return false;
    std::optional<unsigned> first = dimensionOf(tensor->map, outer), second = dimensionOf(tensor->map, inner);
    return first ? second && *second == *first + 1 : !second;
  });
}

void ElementAccess::formAxes() {
  AffineMap order = kernel_.only().outputs.front().tensor.map;
  for (AffineExpr expr : order.getResults()) {
    const unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    if (!axes_.empty() && indexedTogether(axes_.back().loops.back(), loop)) {
      axes_.back().loops.push_back(loop);
      axes_.back().size = mul(axes_.back().size, loopSizes_[loop]);
    } else {
      axes_.push_back({{loop}, loopSizes_[loop]});
    }
  }
}

Value ElementAccess::elementCount() {
  Value count = constant(1);
  for (const Axis &axis : axes_)
    count = mul(count, axis.size);
  return count;
}

LoopIndices ElementAccess::delinearize(Value element) {
  LoopIndices indices;
  indices.axes.resize(axes_.size());
  indices.reductions.resize(kernel_.only().loops.size());
  for (size_t axis = axes_.size(); axis-- > 1;) {
    indices.axes[axis] = LLVM::URemOp::create(b_, loc_, element, axes_[axis].size);
    element = LLVM::UDivOp::create(b_, loc_, element, axes_[axis].size);
  }
  if (!axes_.empty())
    indices.axes[0] = element;
  return indices;
}

LoopIndices ElementAccess::advance(const LoopIndices &indices, unsigned lane) {
  LoopIndices moved = indices;
  if (lane != 0)
    moved.axes.back() = add(moved.axes.back(), constant(lane));
  return moved;
}

Value ElementAccess::loopIndex(const LoopIndices &indices, unsigned loop) {
  if (indices.reductions[loop])
    return indices.reductions[loop];
  for (auto [axis, value] : llvm::zip_equal(axes_, indices.axes)) {
    if (!llvm::is_contained(axis.loops, loop))
      continue;
    Value rest = value;
    for (unsigned inner : llvm::reverse(axis.loops)) {
      const bool outermost = inner == axis.loops.front();
      if (inner == loop)
        return outermost ? rest : LLVM::URemOp::create(b_, loc_, rest, loopSizes_[inner]).getResult();
      rest = LLVM::UDivOp::create(b_, loc_, rest, loopSizes_[inner]);
    }
  }
  llvm_unreachable("every loop is parallel and on an axis, or a reduction that is set");
}

/// Index along one dimension of a tensor, as any affine expression of the loops.
Value ElementAccess::position(AffineExpr expr, const LoopIndices &indices) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return loopIndex(indices, dim.getPosition());
  auto asIndex = [&](Value value) {
    return UnrealizedConversionCastOp::create(b_, loc_, b_.getIndexType(), value).getResult(0);
  };
  SmallVector<Value> loops;
  for (unsigned loop = 0; loop < loopSizes_.size(); ++loop)
    loops.push_back(expr.isFunctionOfDim(loop) ? asIndex(loopIndex(indices, loop)) : Value());
  Value index = affine::expandAffineExpr(b_, loc_, expr, loops, {});
  return UnrealizedConversionCastOp::create(b_, loc_, b_.getI64Type(), index).getResult(0);
}

Value ElementAccess::address(const KernelTensor &tensor, const LoopIndices &indices) {
  Value offset = constant(0), stride = constant(1);
  auto step = [&](Value index) { offset = add(offset, mul(index, stride)); };
  for (size_t dimension = tensor.shape.size(); dimension-- > 0;) {
    AffineExpr expr = tensor.map.getResult(dimension);
    auto loop = dyn_cast<AffineDimExpr>(expr);
    const auto *axis = llvm::find_if(
        axes_, [&](const Axis &axis) { return loop && llvm::is_contained(axis.loops, loop.getPosition()); });
    if (axis == axes_.end())
      step(position(expr, indices));
    else if (axis->loops.back() == loop.getPosition()) // the whole axis lies in this and the dimensions before
      step(indices.axes[axis - axes_.begin()]);
    if (dimension != 0)
      stride = mul(stride, sizeOf(tensor.shape[dimension]));
  }
  return LLVM::GEPOp::create(b_, loc_, pointers_[tensor.binding].getType(), memoryType(tensor.element),
                             pointers_[tensor.binding], ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(offset)},
                             LLVM::GEPNoWrapFlags::inbounds);
}

bool ElementAccess::isAdjacent(const KernelTensor &tensor) const {
  if (!dispatch::isSimpleMap(tensor.map) || tensor.shape.empty())
    return false;
  auto last = dyn_cast<AffineDimExpr>(tensor.map.getResults().back());
  return last && last.getPosition() == axes_.back().loops.back();
}

Value ElementAccess::isAligned(const KernelTensor &tensor, uint32_t bytes) {
  Value base = LLVM::PtrToIntOp::create(b_, loc_, b_.getI64Type(), pointers_[tensor.binding]);
  return isZero(LLVM::AndOp::create(b_, loc_, base, constant(bytes - 1)));
}

Value ElementAccess::fromMemory(Value value, Type element) {
  if (!element.isInteger(1))
    return value;
  Value zero = LLVM::ConstantOp::create(b_, loc_, value.getType(), b_.getI8IntegerAttr(0));
  return LLVM::ICmpOp::create(b_, loc_, LLVM::ICmpPredicate::ne, value, zero);
}

Value ElementAccess::toMemory(Value value, Type element) {
  return element.isInteger(1) ? LLVM::ZExtOp::create(b_, loc_, b_.getI8Type(), value).getResult() : value;
}

Value ElementAccess::load(const KernelTensor &tensor, const LoopIndices &indices) {
  Value from = address(tensor, indices);
  Value value =
      LLVM::LoadOp::create(b_, loc_, memoryType(tensor.element), from, dispatch::elementBytes(tensor.element));
  return fromMemory(value, tensor.element);
}

void ElementAccess::store(const KernelTensor &tensor, const LoopIndices &indices, Value value) {
  Value to = address(tensor, indices);
  LLVM::StoreOp::create(b_, loc_, toMemory(value, tensor.element), to, dispatch::elementBytes(tensor.element));
}

SmallVector<Value> ElementAccess::loadAdjacent(const KernelTensor &tensor, const LoopIndices &indices, unsigned count) {
  SmallVector<Value> values;
  if (isAdjacent(tensor)) {
    Value from = address(tensor, indices);
    auto type = VectorType::get(count, memoryType(tensor.element));
    Value all = LLVM::LoadOp::create(b_, loc_, type, from, count * dispatch::elementBytes(tensor.element));
    for (unsigned lane = 0; lane < count; ++lane)
      values.push_back(fromMemory(LLVM::ExtractElementOp::create(b_, loc_, all, constant(lane)), tensor.element));
    return values;
  }
  const bool varies =
      llvm::any_of(axes_.back().loops, [&](unsigned loop) { return dimensionOf(tensor.map, loop).has_value(); });
  for (unsigned lane = 0; lane < count; ++lane)
    values.push_back(lane != 0 && !varies ? values.front() : load(tensor, advance(indices, lane)));
  return values;
}

void ElementAccess::storeAdjacent(const KernelTensor &tensor, const LoopIndices &indices, ValueRange values) {
  if (!isAdjacent(tensor)) {
    for (auto [lane, value] : llvm::enumerate(values))
      store(tensor, advance(indices, lane), value);
    return;
  }
  Type element = memoryType(tensor.element);
  Value all = LLVM::PoisonOp::create(b_, loc_, VectorType::get(values.size(), element));
  for (auto [lane, value] : llvm::enumerate(values))
    all = LLVM::InsertElementOp::create(b_, loc_, all, toMemory(value, tensor.element), constant(lane));
  Value to = address(tensor, indices);
  LLVM::StoreOp::create(b_, loc_, all, to, values.size() * dispatch::elementBytes(tensor.element));
}

Value ElementAccess::constant(int64_t value) {
  return LLVM::ConstantOp::create(b_, loc_, b_.getI64Type(), b_.getI64IntegerAttr(value));
}
Value ElementAccess::add(Value a, Value b) {
  return LLVM::AddOp::create(b_, loc_, a, b);
}
Value ElementAccess::mul(Value a, Value b) {
  return LLVM::MulOp::create(b_, loc_, a, b);
}
Value ElementAccess::min(Value a, Value b) {
  return LLVM::UMinOp::create(b_, loc_, a, b);
}
Value ElementAccess::less(Value a, Value b) {
  return LLVM::ICmpOp::create(b_, loc_, LLVM::ICmpPredicate::ult, a, b);
}
Value ElementAccess::lessOrEqual(Value a, Value b) {
  return LLVM::ICmpOp::create(b_, loc_, LLVM::ICmpPredicate::ule, a, b);
}
Value ElementAccess::isZero(Value a) {
  return LLVM::ICmpOp::create(b_, loc_, LLVM::ICmpPredicate::eq, a, constant(0));
}
Value ElementAccess::undefined(Type element) {
  return LLVM::UndefOp::create(b_, loc_, element);
}

} // namespace tenon::compiler::codegen
