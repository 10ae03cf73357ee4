// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/bodies.h"

#include "compiler/codegen/kernel/gathered.h"
#include "compiler/dispatch/kernel_config.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// The point of what a row has once.
constexpr unsigned kRow = ~0u;

unsigned depthOf(Value value, const dispatch::Group &group, llvm::DenseMap<Operation *, unsigned> &known) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || !group.contains(op))
    return 0;
  if (auto found = known.find(op); found != known.end())
    return found->second;
  unsigned depth = 0;
  for (Value operand : op->getOperands())
    depth = std::max(depth, depthOf(operand, group, known));
  return known[op] = depth + (op.getNumReductionLoops() != 0 ? 1 : 0);
}

} // namespace

SmallVector<SmallVector<RowSum>> phasesOf(const KernelFunction &kernel, const dispatch::Group &group) {
  SmallVector<SmallVector<RowSum>> phases;
  llvm::DenseMap<Operation *, unsigned> depths;
  for (const KernelOp &op : kernel.ops) {
    linalg::GenericOp generic = op.op;
    if (generic.getNumReductionLoops() == 0)
      continue;
    const unsigned phase = depthOf(generic->getResult(0), group, depths) - 1;
    if (phase >= phases.size())
      phases.resize(phase + 1);
    const auto accumulators = dispatch::reductionBodyOf(generic);
    for (auto [output, accumulator] : llvm::enumerate(*accumulators))
      phases[phase].push_back({&op, unsigned(output), Sum::of(accumulator.combiner, op.outputs[output].tensor.element),
                               accumulator.contributed});
  }
  return phases;
}

const KernelOp &Bodies::opOf(Value value) const {
  return *llvm::find_if(kernel_.ops, [&](const KernelOp &op) { return op.op == value.getDefiningOp(); });
}

Value Bodies::fromMemory(Value value, Type element) {
  if (!element.isInteger(1))
    return value;
  Value zero = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI8IntegerAttr(0));
  return arith::CmpIOp::create(k_.b, k_.loc, arith::CmpIPredicate::ne, value, zero);
}

Value Bodies::toMemory(Value value, Type element) {
  return element.isInteger(1) ? arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI8Type(), value).getResult() : value;
}

Value Bodies::loadOne(const KernelTensor &tensor, Value element) {
  return loadElement(k_, arguments_, tensor, element);
}

void Bodies::stage(const KernelOp &op, const KernelTensor &tensor, Read read) {
  staged_[{space_.shape().mapOf(tensor, op.op).getAsOpaquePointer(), tensor.binding}] = std::move(read);
}

Value Bodies::address(const KernelOp &op, const KernelTensor &tensor, const Point &point) {
  return k_.at(arguments_.pointers[tensor.binding], memoryType(tensor.element),
               space_.element(tensor, op.op, point, 0));
}

Bodies::Lanes Bodies::load(const KernelOp &op, const KernelTensor &tensor, const Point &point) {
  // The same tensor by the same indices, whichever operation reads it.
  AffineMap map = space_.shape().mapOf(tensor, op.op);
  const void *binding = reinterpret_cast<const void *>(uintptr_t(tensor.binding));
  const unsigned id = isShared(op) ? kRow : point.id;
  Lanes &lanes = known_[{map.getAsOpaquePointer(), binding, id, 0}];
  if (!lanes.empty())
    return lanes;
  if (auto staged = staged_.find({map.getAsOpaquePointer(), tensor.binding}); staged != staged_.end()) {
    for (Value value : staged->second(point))
      lanes.push_back(fromMemory(value, tensor.element));
    return lanes;
  }
  const GroupShape::Along along = space_.shape().along(tensor, op.op, space_.vectorAxis);
  if (along == GroupShape::Along::Same || isShared(op)) {
    lanes.assign(width_, loadOne(tensor, space_.element(tensor, op.op, point, 0)));
  } else if (along == GroupShape::Along::Adjacent && width_ > 1) {
    Type element = memoryType(tensor.element);
    Value all = k_.load(VectorType::get(width_, element), address(op, tensor, point),
                        width_ * dispatch::elementBytes(tensor.element), isStreamed(tensor));
    for (unsigned lane = 0; lane < width_; ++lane)
      lanes.push_back(fromMemory(LLVM::ExtractElementOp::create(k_.b, k_.loc, all, k_.number(lane)), tensor.element));
  } else {
    for (unsigned lane = 0; lane < width_; ++lane)
      lanes.push_back(loadOne(tensor, space_.element(tensor, op.op, point, lane)));
  }
  return lanes;
}

Value Bodies::operand(const KernelOp &op, const KernelInput &input, const Point &point, unsigned lane) {
  if (input.scalar)
    return arguments_.scalars.lookup(input.scalar);
  if (!input.computed)
    return load(op, input.tensor, point)[lane];
  if (auto row = rows_.find(input.computed); row != rows_.end())
    return row->second[row->second.size() == 1 ? 0 : lane];
  return element(opOf(input.computed), cast<OpResult>(input.computed).getResultNumber(), point, lane);
}

Value Bodies::start(const KernelOp &op, const KernelOutput &output, const Point &point, unsigned lane) {
  if (output.startScalar)
    return arguments_.scalars.lookup(output.startScalar);
  if (output.startTensor)
    return load(op, *output.startTensor, point)[lane];
  return LLVM::UndefOp::create(k_.b, k_.loc, output.tensor.element);
}

/// Copies the operations of the body that know no accumulator.
void Bodies::copyBody(const KernelOp &op, const Point &point, unsigned lane, IRMapping &values) {
  linalg::GenericOp generic = op.op;
  for (const KernelInput &input : op.inputs)
    if (!input.bodyArgument.use_empty())
      values.map(input.bodyArgument, operand(op, input, point, lane));
  const bool reduces = generic.getNumReductionLoops() != 0;
  for (const KernelOutput &output : op.outputs)
    if (!reduces && !output.bodyArgument.use_empty())
      values.map(output.bodyArgument, start(op, output, point, lane));
  llvm::SmallDenseSet<Value> unknown;
  if (reduces)
    for (const KernelOutput &output : op.outputs)
      unknown.insert(output.bodyArgument);
  auto asIndex = [&](Value value) -> Value {
    return arith::IndexCastOp::create(k_.b, k_.loc, k_.b.getIndexType(), value);
  };
  for (Operation &inner : generic.getBody()->without_terminator()) {
    if (llvm::any_of(inner.getOperands(), [&](Value value) { return unknown.contains(value); })) {
      unknown.insert(inner.result_begin(), inner.result_end());
    } else if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      values.map(index.getResult(), asIndex(space_.loopIndex(generic, index.getDim(), point, lane)));
    } else if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
      const KernelTensor &tensor = kernel_.gathered.find(extract.getTensor())->second;
      SmallVector<Value> indices;
      for (Value position : extract.getIndices())
        indices.push_back(arith::IndexCastOp::create(k_.b, k_.loc, k_.b.getI64Type(), values.lookup(position)));
      values.map(extract.getResult(), loadGathered(k_, arguments_, tensor, indices));
    } else {
      copyScalarOp(k_.b, inner, values);
    }
  }
}

Value Bodies::element(const KernelOp &op, unsigned output, const Point &point, unsigned lane) {
  const bool perRow = isShared(op);
  Lanes &results = known_[{op.op.getAsOpaquePointer(), nullptr, perRow ? kRow : point.id, perRow ? 0 : lane}];
  if (results.empty()) {
    IRMapping values = arguments_.scalars;
    copyBody(op, point, perRow ? 0 : lane, values);
    Lanes computed;
    for (Value result : linalg::GenericOp(op.op).getBody()->getTerminator()->getOperands())
      computed.push_back(values.lookup(result));
    known_[{op.op.getAsOpaquePointer(), nullptr, perRow ? kRow : point.id, perRow ? 0 : lane}] = computed;
    return computed[output];
  }
  return results[output];
}

Value Bodies::contribution(const RowSum &sum, const Point &point, unsigned lane) {
  Lanes &all = known_[{sum.op->op.getAsOpaquePointer(), &sum.op->outputs, point.id, lane}];
  if (all.empty()) {
    IRMapping values = arguments_.scalars;
    copyBody(*sum.op, point, lane, values);
    Lanes computed;
    const auto accumulators = dispatch::reductionBodyOf(sum.op->op);
    for (const dispatch::Accumulator &accumulator : *accumulators)
      computed.push_back(values.lookupOrDefault(accumulator.contributed));
    known_[{sum.op->op.getAsOpaquePointer(), &sum.op->outputs, point.id, lane}] = computed;
    return widen(k_, sum.sum, computed[sum.output]);
  }
  return widen(k_, sum.sum, all[sum.output]);
}

Value Bodies::finish(const RowSum &sum, const Point &point, unsigned lane, Value total) {
  const KernelOutput &output = sum.op->outputs[sum.output];
  if (output.startScalar || output.startTensor) {
    Value from = output.startScalar
                     ? arguments_.scalars.lookup(output.startScalar)
                     : loadOne(*output.startTensor, space_.element(*output.startTensor, sum.op->op, point, lane));
    total = combine(k_, sum.sum, widen(k_, sum.sum, from), total);
  }
  return narrow(k_, sum.sum, total);
}

void Bodies::preload(const Point &point) {
  for (const KernelOp &op : kernel_.ops)
    if (space_.shape().group.coversAllAxes(op.op))
      for (const KernelInput &input : op.inputs)
        if (input.isMemory() && !input.bodyArgument.use_empty())
          load(op, input.tensor, point);
}

void Bodies::storeLanes(const KernelOp &op, const KernelOutput &output, const Point &point, ValueRange values) {
  Type element = memoryType(output.tensor.element);
  const uint32_t bytes = dispatch::elementBytes(output.tensor.element);
  Value base = arguments_.pointers[output.tensor.binding];
  const bool wide =
      values.size() > 1 && space_.shape().along(output.tensor, op.op, space_.vectorAxis) == GroupShape::Along::Adjacent;
  if (!wide) {
    for (auto [lane, value] : llvm::enumerate(values))
      k_.store(toMemory(value, output.tensor.element),
               k_.at(base, element, space_.element(output.tensor, op.op, point, lane)), bytes);
    return;
  }
  Value all = LLVM::PoisonOp::create(k_.b, k_.loc, VectorType::get(values.size(), element));
  for (auto [lane, value] : llvm::enumerate(values))
    all = LLVM::InsertElementOp::create(k_.b, k_.loc, all, toMemory(value, output.tensor.element), k_.number(lane));
  k_.store(all, k_.at(base, element, space_.element(output.tensor, op.op, point, 0)), values.size() * bytes);
}

void Bodies::store(const KernelOp &op, const Point &point) {
  for (auto [number, output] : llvm::enumerate(op.outputs)) {
    if (!output.isStored)
      continue;
    SmallVector<Value> values;
    for (unsigned lane = 0; lane < width_; ++lane)
      values.push_back(element(op, number, point, lane));
    storeLanes(op, output, point, values);
  }
}

bool Bodies::hasElements(const KernelOp &op) const {
  return linalg::GenericOp(op.op).getNumReductionLoops() == 0 && space_.shape().group.coversAllAxes(op.op);
}

void Bodies::storeElements(const Point &point) {
  for (const KernelOp &op : kernel_.ops)
    if (hasElements(op))
      store(op, point);
}

void Bodies::storeRow(const KernelOp &op, const Point &point) {
  for (auto [number, output] : llvm::enumerate(op.outputs)) {
    if (!output.isStored)
      continue;
    auto row = rows_.find(op.op->getResult(number));
    Lanes values;
    for (unsigned lane = 0, lanes = isAlongRow() ? 1 : width_; lane < lanes; ++lane)
      values.push_back(row != rows_.end() ? row->second[lane] : element(op, number, point, lane));
    storeLanes(op, output, point, values);
  }
}

Value Bodies::isAligned(const KernelTensor &tensor, int64_t bytes) {
  Value base = LLVM::PtrToIntOp::create(k_.b, k_.loc, k_.b.getI64Type(), arguments_.pointers[tensor.binding]);
  Value rest = arith::AndIOp::create(k_.b, k_.loc, base, k_.number(bytes - 1));
  return k_.equal(rest, k_.number(0));
}

Value Bodies::isAligned(unsigned width, bool needsWhole) {
  Value aligned = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(true));
  if (width == 1)
    return aligned;
  llvm::SmallDenseSet<uint32_t> seen;
  bool several = needsWhole;
  auto ask = [&](const KernelOp &op, const KernelTensor &tensor) {
    if (isShared(op) || space_.shape().along(tensor, op.op, space_.vectorAxis) != GroupShape::Along::Adjacent)
      return;
    several |= space_.shape().axes.size() > 1;
    if (!seen.insert(tensor.binding).second)
      return;
    aligned = k_.both(aligned, isAligned(tensor, int64_t(width) * dispatch::elementBytes(tensor.element)));
  };
  for (const KernelOp &op : kernel_.ops) {
    for (const KernelInput &input : op.inputs)
      if (input.isMemory())
        ask(op, input.tensor);
    for (const KernelOutput &output : op.outputs) {
      if (output.startTensor)
        ask(op, *output.startTensor);
      if (output.isStored)
        ask(op, output.tensor);
    }
  }
  if (several) {
    Value rest = k_.rem(space_.size(space_.vectorAxis), k_.number(width));
    aligned = k_.both(aligned, k_.equal(rest, k_.number(0)));
  }
  return aligned;
}

} // namespace tenon::compiler::codegen
