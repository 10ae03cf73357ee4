// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/bodies/bodies.h"

#include "compiler/dispatch/analysis/groups/gates.h"
#include "compiler/dispatch/analysis/kernel_config.h"

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
    if (generic.getNumReductionLoops() == 0 || generic == group.logSum)
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

SmallVector<ElementInput> elementInputs(const KernelFunction &kernel, const GroupShape &shape) {
  SmallVector<ElementInput> inputs;
  llvm::SmallDenseSet<std::pair<const void *, uint32_t>> seen;
  for (const KernelOp &op : kernel.ops)
    if (shape.group.coversAllAxes(op.op))
      for (const KernelInput &input : op.inputs)
        if (input.isMemory() && !input.bodyArgument.use_empty() &&
            input.tensor.map.getNumResults() == linalg::GenericOp(op.op).getNumLoops() &&
            seen.insert({shape.mapOf(input.tensor, op.op).getAsOpaquePointer(), input.tensor.binding}).second)
          inputs.push_back({&op, &input.tensor});
  return inputs;
}

const KernelOp &Bodies::opOf(Value value) const {
  return *llvm::find_if(kernel_.ops, [&](const KernelOp &op) { return op.op == value.getDefiningOp(); });
}

void Bodies::stage(const KernelOp &op, const KernelTensor &tensor, Read read) {
  staged_[{space_.shape().mapOf(tensor, op.op).getAsOpaquePointer(), tensor.binding}] = std::move(read);
}

Value Bodies::address(const KernelOp &op, const KernelTensor &tensor, const Point &point) {
  return k_.at(arguments_.pointers[tensor.binding], memoryType(tensor.element),
               space_.element(tensor, op.op, point, 0));
}

Lanes Bodies::load(const KernelOp &op, const KernelTensor &tensor, const Point &point) {
  // The same tensor by the same indices, whichever operation reads it.
  AffineMap map = space_.shape().mapOf(tensor, op.op);
  const void *binding = reinterpret_cast<const void *>(uintptr_t(tensor.binding));
  const bool isOnce = isShared(op);
  const std::optional<unsigned> unrolled = space_.unrolledAxis;
  const bool isOfPlace = unrolled && space_.shape().along(tensor, op.op, *unrolled) == GroupShape::Along::Same;
  const auto key = std::tuple(map.getAsOpaquePointer(), binding, isOnce ? kRow : isOfPlace ? point.place : point.id);
  if (auto known = known_.find(key); known != known_.end())
    return known->second.front();
  auto one = [&](unsigned lane) {
    return loadElement(k_, arguments_, tensor, space_.element(tensor, op.op, point, lane));
  };
  const GroupShape::Along along = space_.shape().along(tensor, op.op, space_.vectorAxis);
  const bool isApart = along == GroupShape::Along::Apart;
  Lanes lanes;
  if (auto staged = staged_.find({map.getAsOpaquePointer(), tensor.binding}); staged != staged_.end()) {
    for (Value value : staged->second(point))
      lanes.values.push_back(fromMemory(k_, value, tensor.element));
    lanes.order = width_ == 1 ? Order::Same : Order::Any;
  } else if (along == GroupShape::Along::Same || isOnce || width_ == 1) {
    lanes = Lanes::same(one(0));
  } else if (std::optional<Lanes> shared = loadShared(op, tensor, point)) {
    lanes = *shared;
  } else if (std::optional<unsigned> prefix = space_.shape().prefixOf(tensor, op.op, space_.vectorAxis)) {
    lanes.values = loadPrefix(op, tensor, point, *prefix);
  } else if (isApart) {
    for (unsigned lane = 0; lane < width_; ++lane)
      lanes.values.push_back(one(lane));
  } else {
    const bool isKnown = isAligned_ && along == GroupShape::Along::Adjacent && (!order_ || map == *order_);
    Value first = space_.element(tensor, op.op, point, 0);
    lanes.values = isKnown ? loadAligned(k_, arguments_, tensor, first, width_, isStreamed(tensor))
                           : loadRun(k_, arguments_, tensor, first, width_, isStreamed(tensor), order_.has_value());
  }
  known_[key] = {lanes};
  return lanes;
}

/// Of a tensor that has the first axes of rows alone: a vector lies in one element's part of the row, or in those of
/// two neighbours (areBasesAligned).
SmallVector<Value> Bodies::loadPrefix(const KernelOp &op, const KernelTensor &tensor, const Point &point,
                                      unsigned prefix) {
  const unsigned axis = space_.vectorAxis;
  const Quotient at = space_.dividePrefix(axis, prefix, point.index[axis]);
  if (areWholeParts_)
    return SmallVector<Value>(
        width_, loadElement(k_, arguments_, tensor, space_.element(tensor, op.op, point, 0, at.quotient)));
  Value left = k_.sub(space_.sizeBehind(axis, prefix), at.remainder); // lanes that are still in the first part
  left = arith::TruncIOp::create(k_.b, k_.loc, k_.b.getI32Type(), k_.min(left, k_.number(width_)));
  auto isNext = [&](unsigned lane) -> Value {
    Value number = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(int32_t(lane)));
    return arith::CmpIOp::create(k_.b, k_.loc, arith::CmpIPredicate::ule, left, number);
  };
  Value next = k_.add(at.quotient, arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(), isNext(width_ - 1)));
  auto load = [&](Value position) {
    return loadElement(k_, arguments_, tensor, space_.element(tensor, op.op, point, 0, position));
  };
  SmallVector<Value> values = {load(at.quotient)};
  Value ofNext = load(next);
  for (unsigned lane = 1; lane < width_; ++lane)
    values.push_back(k_.select(isNext(lane), ofNext, values.front()));
  return values;
}

/// Of an operand: elements that several lanes share are one access, or one for all lanes.
std::optional<Lanes> Bodies::loadShared(const KernelOp &op, const KernelTensor &tensor, const Point &point) {
  const std::optional<int64_t> shared =
      isOfOperand_ ? space_.shape().sharedBy(tensor, op.op, space_.vectorAxis) : std::nullopt;
  if (!shared || (width_ % *shared != 0 && *shared % width_ != 0))
    return std::nullopt;
  Value first = space_.element(tensor, op.op, point, 0);
  if (*shared % width_ == 0)
    return Lanes::same(loadElement(k_, arguments_, tensor, first));
  const SmallVector<Value> elements =
      loadAligned(k_, arguments_, tensor, first, width_ / unsigned(*shared), isStreamed(tensor));
  Lanes lanes;
  for (unsigned lane = 0; lane < width_; ++lane)
    lanes.values.push_back(elements[lane / unsigned(*shared)]);
  return lanes;
}

Lanes Bodies::operand(const KernelOp &op, const KernelInput &input, const Point &point) {
  if (input.scalar)
    return Lanes::same(arguments_.scalars.lookup(input.scalar));
  if (!input.computed)
    return load(op, input.tensor, point);
  linalg::GenericOp generic = op.op;
  OpOperand &operand = generic->getOpOperand(input.bodyArgument.getArgNumber());
  if (space_.shape().gatesAxis)
    if (const std::optional<unsigned> gate = dispatch::gateOf(space_.shape().group, operand))
      return ofGate(input.computed, *gate, point);
  return computed(input.computed, point);
}

Lanes Bodies::computed(Value value, const Point &point) {
  if (auto row = rows_.find(value); row != rows_.end()) {
    if (gate_)
      return Lanes::same(row->second[*gate_]);
    return {row->second, row->second.size() == 1 ? Order::Same : Order::Any};
  }
  const KernelOp &producer = opOf(value);
  SmallVector<Value> yielded = linalg::GenericOp(producer.op).getBody()->getTerminator()->getOperands();
  return compute(producer, cast<OpResult>(value).getResultNumber(), point, yielded);
}

/// The same point each time.
Point Bodies::gateAt(unsigned gate, const Point &row) {
  Point there = row;
  there.index[*space_.shape().gatesAxis] = k_.number(gate);
  const auto [id, isNew] = gatePoints_.insert({{row.id, gate}, 0});
  if (isNew)
    id->second = space_.newId();
  there.id = id->second;
  return there;
}

/// What is computed of a gate, at a point that has none.
Lanes Bodies::ofGate(Value value, unsigned gate, const Point &point) {
  const std::optional<unsigned> outer = std::exchange(gate_, gate);
  Lanes lanes = computed(value, gateAt(gate, point));
  gate_ = outer;
  return lanes;
}

void Bodies::preloadGates(const Point &row) {
  const GroupShape &shape = space_.shape();
  const unsigned gates = shape.axes[*shape.gatesAxis].axes.front();
  for (const KernelOp &op : kernel_.ops) {
    if (linalg::GenericOp(op.op).getNumReductionLoops() != 0 || !shape.group.isPerRow(op.op))
      continue;
    const bool isOfGates = shape.group.axesOf(op.op)[gates];
    for (const KernelInput &input : op.inputs)
      if (input.isMemory() && !input.bodyArgument.use_empty())
        for (unsigned gate = 0; gate < (isOfGates ? unsigned(shape.gates) : 1); ++gate)
          load(op, input.tensor, isOfGates ? gateAt(gate, row) : row);
  }
}

Lanes Bodies::start(const KernelOp &op, const KernelOutput &output, const Point &point) {
  if (output.startScalar)
    return Lanes::same(arguments_.scalars.lookup(output.startScalar));
  if (output.startTensor)
    return load(op, *output.startTensor, point);
  return Lanes::same(LLVM::UndefOp::create(k_.b, k_.loc, output.tensor.element));
}

/// The values `yielded` of an operation's body, for all lanes of the point; one lane where it runs once per row.
Lanes Bodies::compute(const KernelOp &op, unsigned output, const Point &point, ArrayRef<Value> yielded) {
  linalg::GenericOp generic = op.op;
  const bool perRow = isShared(op);
  const auto key = std::tuple(op.op.getAsOpaquePointer(), static_cast<const void *>(nullptr), perRow ? kRow : point.id);
  if (auto known = known_.find(key); known != known_.end())
    return known->second[output];
  auto isThisStreamed = [&](uint32_t binding) { return streamed_.contains(binding); };
  BodyValues values(k_, kernel_, space_, arguments_, generic, point, perRow ? 1 : width_, isThisStreamed);
  if (isAligned_)
    values.setAligned();
  if (isOfOperand_)
    values.setPaired();
  if (isBranchless_)
    values.setBranchless();
  if (areReadsAligned_)
    values.setReadsAligned();
  if (!perRow)
    values.setDoubts(doubts_);
  for (const KernelInput &input : op.inputs)
    if (!input.bodyArgument.use_empty())
      values.bind(input.bodyArgument, operand(op, input, point));
  if (generic.getNumReductionLoops() == 0)
    for (const KernelOutput &written : op.outputs)
      if (!written.bodyArgument.use_empty())
        values.bind(written.bodyArgument, start(op, written, point));
  if (space_.unrolledAxis)
    shareReads(generic, values, point);
  addAssumed(generic, values);
  SmallVector<Lanes> computed;
  for (Value value : yielded)
    computed.push_back(values.value(value));
  known_[key] = computed;
  return computed[output];
}

void Bodies::addAssumed(linalg::GenericOp op, BodyValues &values) const {
  for (auto [value, lanes] : assumed_)
    if (value.getParentBlock() == op.getBody())
      values.know(value, lanes);
}

/// What the body reads by itself is the same in all rounds of the unrolled axis.
void Bodies::shareReads(linalg::GenericOp op, BodyValues &values, const Point &point) {
  for (auto read : op.getBody()->getOps<tensor::ExtractOp>()) {
    const auto key = std::tuple(static_cast<const void *>(read.getAsOpaquePointer()),
                                static_cast<const void *>(nullptr), point.place);
    auto known = known_.find(key);
    if (known == known_.end())
      known = known_.insert({key, {values.value(read.getResult())}}).first;
    values.know(read.getResult(), known->second.front());
  }
}

Value Bodies::element(const KernelOp &op, unsigned output, const Point &point, unsigned lane) {
  SmallVector<Value> yielded = linalg::GenericOp(op.op).getBody()->getTerminator()->getOperands();
  return compute(op, output, point, yielded)[lane];
}

Lanes Bodies::ofBody(const KernelOp &op, Value value, const Point &point) {
  linalg::GenericOp generic = op.op;
  auto isThisStreamed = [&](uint32_t binding) { return streamed_.contains(binding); };
  BodyValues values(k_, kernel_, space_, arguments_, generic, point, width_, isThisStreamed);
  addAssumed(generic, values);
  if (isOfOperand_)
    values.setPaired();
  llvm::SetVector<Operation *> slice;
  SmallVector<Value> wanted = {value};
  for (size_t next = 0; next < wanted.size(); ++next) {
    auto argument = dyn_cast<BlockArgument>(wanted[next]);
    Operation *defining = wanted[next].getDefiningOp();
    if (argument && argument.getOwner() == generic.getBody())
      values.bind(argument, operand(op, op.inputs[argument.getArgNumber()], point));
    else if (defining && defining->getBlock() == generic.getBody() && slice.insert(defining))
      llvm::append_range(wanted, defining->getOperands());
  }
  return values.value(value);
}

Value Bodies::contribution(const RowSum &sum, const Point &point, unsigned lane) {
  SmallVector<Value> contributed;
  const auto accumulators = dispatch::reductionBodyOf(sum.op->op);
  for (const dispatch::Accumulator &accumulator : *accumulators)
    contributed.push_back(accumulator.contributed);
  return widen(k_, sum.sum, compute(*sum.op, sum.output, point, contributed)[lane]);
}

bool Bodies::startsFromScalar(const RowSum &sum) const {
  return bool(sum.op->outputs[sum.output].startScalar);
}

Value Bodies::begin(const RowSum &sum) {
  const KernelOutput &output = sum.op->outputs[sum.output];
  return output.startScalar ? widen(k_, sum.sum, arguments_.scalars.lookup(output.startScalar)) : neutral(k_, sum.sum);
}

Value Bodies::finishBegun(const RowSum &sum, const Point &point, unsigned lane, Value total) {
  return startsFromScalar(sum) ? narrow(k_, sum.sum, total) : finish(sum, point, lane, total);
}

Value Bodies::finish(const RowSum &sum, const Point &point, unsigned lane, Value total) {
  const KernelOutput &output = sum.op->outputs[sum.output];
  if (output.startScalar || output.startTensor) {
    Value from = output.startScalar ? arguments_.scalars.lookup(output.startScalar)
                                    : loadElement(k_, arguments_, *output.startTensor,
                                                  space_.element(*output.startTensor, sum.op->op, point, lane));
    total = combine(k_, sum.sum, widen(k_, sum.sum, from), total);
  }
  return narrow(k_, sum.sum, total);
}

Value Bodies::rowOperand(const KernelOp &op, BlockArgument argument, const Point &row, unsigned lane) {
  const auto *input = llvm::find_if(op.inputs, [&](const KernelInput &each) { return each.bodyArgument == argument; });
  return operand(op, *input, row)[lane];
}

void Bodies::preload(const Point &point) {
  for (const ElementInput &input : elementInputs(kernel_, space_.shape()))
    load(*input.op, *input.tensor, point);
}

void Bodies::storeLanes(const KernelOp &op, const KernelOutput &output, const Point &point, ValueRange values) {
  const KernelTensor &tensor = output.tensor;
  if (values.size() == 1 || space_.shape().along(tensor, op.op, space_.vectorAxis) != GroupShape::Along::Adjacent) {
    Type element = memoryType(tensor.element);
    for (auto [lane, value] : llvm::enumerate(values))
      k_.store(toMemory(k_, value, tensor.element),
               k_.at(arguments_.pointers[tensor.binding], element, space_.element(tensor, op.op, point, lane)),
               dispatch::elementBytes(tensor.element));
    return;
  }
  const bool isKnown = isAligned_ && (!order_ || space_.shape().mapOf(tensor, op.op) == *order_);
  (isKnown ? storeAligned : storeRun)(k_, arguments_, tensor, space_.element(tensor, op.op, point, 0), values);
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

SmallVector<Value> Bodies::rowValues(const KernelOp &op, unsigned output, const Point &point) {
  auto row = rows_.find(op.op->getResult(output));
  SmallVector<Value> values;
  for (unsigned lane = 0, lanes = isAlongRow() ? 1 : width_; lane < lanes; ++lane)
    values.push_back(row != rows_.end() ? row->second[lane] : element(op, output, point, lane));
  return values;
}

void Bodies::storeRow(const KernelOp &op, const Point &point) {
  for (auto [number, output] : llvm::enumerate(op.outputs))
    if (output.isStored)
      storeLanes(op, output, point, rowValues(op, number, point));
}

} // namespace tenon::compiler::codegen
