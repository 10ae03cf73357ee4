// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/emit_kernel.h"

#include "compiler/codegen/kernel/element_access.h"
#include "compiler/codegen/kernel/kernel_parameters.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dispatch/kernel_config.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

class KernelEmitter {
public:
  KernelEmitter(const KernelFunction &kernel, LLVM::LLVMFuncOp function)
      : kernel(kernel), source(kernel.function), op(kernel.op), function(function), b(function.getContext()),
        loc(op.getLoc()) {}

  void run();

private:
  void mapArguments();
  void mapScalar(BlockArgument original, Value value);
  void mapMembers(const KernelConstant &constant, Value pointer);
  Value sizeFrom(Value value);
  void copyScalarOp(Operation &inner, IRMapping &values);
  void emitAnyGrid(const std::array<int32_t, 3> &size);
  void emitElements(Value first, Value last, Value step);
  void emitWholePath(Value first);
  void emitSinglePath(Value first, Value end);
  void emitElement(Value element);
  SmallVector<Value> emitReduction(ArrayRef<unsigned> loops, LoopIndices &indices, ValueRange accumulators);
  SmallVector<Value> emitBody(const LoopIndices &indices, ValueRange inputs, ValueRange starts);
  SmallVector<Value> loadInputs(const LoopIndices &indices);
  SmallVector<Value> loadStarts(const LoopIndices &indices);
  Value isWhole(Value first, Value end);

  /// A special register, which has 32 bits.
  template <typename Register> Value special() {
    return LLVM::ZExtOp::create(b, loc, b.getI64Type(), Register::create(b, loc, b.getI32Type()));
  }

  const KernelFunction &kernel;
  func::FuncOp source;
  linalg::GenericOp op;
  LLVM::LLVMFuncOp function;
  OpBuilder b;
  Location loc;
  IRMapping scalars; // scalar arguments of the kernel function and what it computes from them
  std::optional<ElementAccess> access;
};

/// Scalar arguments arrive as parameters, or as members of one that is passed by value; arithmetic of the function on
/// them is repeated in the kernel.
void KernelEmitter::mapArguments() {
  Block &entry = function.front();
  for (auto [position, constant] : llvm::enumerate(kernel.constants)) {
    Value parameter = entry.getArgument(kernel.bindings + position);
    if (constant.declared)
      mapMembers(constant, parameter);
    else
      mapScalar(source.getArgument(constant.arguments.front()), parameter);
  }
  for (Operation &inner : source.front())
    if (dispatch::isScalarOp(&inner))
      copyScalarOp(inner, scalars);
  llvm::DenseMap<Value, Value> sizes;
  auto addSize = [&](const Extent &extent) {
    if (extent.value && !sizes.contains(extent.value))
      sizes[extent.value] = sizeFrom(scalars.lookup(extent.value));
  };
  llvm::for_each(kernel.loops, addSize);
  for (const KernelTensor *tensor : kernel.tensors())
    llvm::for_each(tensor->shape, addSize);
  access.emplace(kernel, b, loc, entry.getArguments().take_front(kernel.bindings), sizes);
}

/// An i1 travels as a byte, an index as an i64.
void KernelEmitter::mapScalar(BlockArgument original, Value value) {
  if (original.getType().isInteger(1))
    value = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, value,
                                 LLVM::ConstantOp::create(b, loc, b.getI8Type(), b.getI8IntegerAttr(0)));
  else if (original.getType().isIndex())
    value = UnrealizedConversionCastOp::create(b, loc, original.getType(), value).getResult(0);
  scalars.map(original, value);
}

/// Members of a struct by value, each where a C struct has it; a tensor map has none.
void KernelEmitter::mapMembers(const KernelConstant &constant, Value pointer) {
  uint32_t end = 0;
  for (uint32_t argument : constant.arguments) {
    BlockArgument original = source.getArgument(argument);
    const uint32_t size = abi::byteSize(*elementTypeOf(original.getType()));
    const uint32_t offset = (end + size - 1) / size * size;
    end = offset + size;
    Value from = LLVM::GEPOp::create(b, loc, pointer.getType(), b.getI8Type(), pointer,
                                     ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(offset))});
    mapScalar(original, LLVM::LoadOp::create(b, loc, parameterType(original.getType()), from, size));
  }
}

/// An integer as a size: i64. No size is negative, so one of 32 bits may take them all.
Value KernelEmitter::sizeFrom(Value value) {
  if (value.getType().isIndex())
    return UnrealizedConversionCastOp::create(b, loc, b.getI64Type(), value).getResult(0);
  return value.getType().isInteger(64) ? value : LLVM::ZExtOp::create(b, loc, b.getI64Type(), value).getResult();
}

/// An operation on scalars, its results entered into `values`. Operations of `math` remember their name in their
/// location: the error about a missing libdevice quotes it.
void KernelEmitter::copyScalarOp(Operation &inner, IRMapping &values) {
  if (auto apply = dyn_cast<affine::AffineApplyOp>(inner)) {
    SmallVector<Value> operands;
    for (Value operand : apply.getMapOperands())
      operands.push_back(values.lookup(operand));
    values.map(apply.getResult(), affine::expandAffineMap(b, inner.getLoc(), apply.getAffineMap(), operands)->front());
    return;
  }
  Operation *copy = b.clone(inner, values);
  if (isa<math::MathDialect>(inner.getDialect()) || isa<arith::RemFOp>(inner))
    copy->setLoc(NameLoc::get(b.getStringAttr(inner.getName().getStringRef()), inner.getLoc()));
}

void KernelEmitter::run() {
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  mapArguments();
  if (kernel.workgroupSize)
    return emitAnyGrid(*kernel.workgroupSize);
  Value group = special<NVVM::BlockIdXOp>();
  Value lane = special<NVVM::ThreadIdXOp>();
  Value thread = access->add(access->mul(group, access->constant(dispatch::kThreadsPerWorkgroup)), lane);
  Value first = access->mul(thread, access->constant(kernel.elementsPerThread));
  Value end = access->elementCount();

  Block *done = b.createBlock(&function.getBody(), function.getBody().end());
  LLVM::ReturnOp::create(b, loc, ValueRange());
  b.setInsertionPointToEnd(entry);
  if (kernel.elementsPerThread == 1) {
    Block *body = b.createBlock(done);
    b.setInsertionPointToEnd(entry);
    LLVM::CondBrOp::create(b, loc, access->less(first, end), body, done);
    b.setInsertionPointToEnd(body);
    emitElement(first);
    LLVM::BrOp::create(b, loc, ValueRange(), done);
    return;
  }
  Block *whole = b.createBlock(done);
  Block *single = b.createBlock(done);
  b.setInsertionPointToEnd(entry);
  LLVM::CondBrOp::create(b, loc, isWhole(first, end), whole, single);
  b.setInsertionPointToEnd(whole);
  emitWholePath(first);
  LLVM::BrOp::create(b, loc, ValueRange(), done);
  b.setInsertionPointToEnd(single);
  emitSinglePath(first, end);
  LLVM::BrOp::create(b, loc, ValueRange(), done);
}

/// Blocks and threads are numbered over all three dimensions: the thread starts at its own number and steps by the
/// number of all threads.
void KernelEmitter::emitAnyGrid(const std::array<int32_t, 3> &size) {
  auto extent = [&](unsigned dimension) { return access->constant(size[dimension]); };
  auto number = [&](Value x, Value y, Value z, Value sizeX, Value sizeY) {
    return access->add(x, access->mul(sizeX, access->add(y, access->mul(sizeY, z))));
  };
  Value gridX = special<NVVM::GridDimXOp>(), gridY = special<NVVM::GridDimYOp>(), gridZ = special<NVVM::GridDimZOp>();
  Value group =
      number(special<NVVM::BlockIdXOp>(), special<NVVM::BlockIdYOp>(), special<NVVM::BlockIdZOp>(), gridX, gridY);
  Value lane = number(special<NVVM::ThreadIdXOp>(), special<NVVM::ThreadIdYOp>(), special<NVVM::ThreadIdZOp>(),
                      extent(0), extent(1));
  Value threads = access->constant(int64_t(size[0]) * size[1] * size[2]);
  Value step = access->mul(access->mul(gridX, access->mul(gridY, gridZ)), threads);
  emitElements(access->add(access->mul(group, threads), lane), access->elementCount(), step);
  LLVM::ReturnOp::create(b, loc, ValueRange());
}

Value KernelEmitter::isWhole(Value first, Value end) {
  Value count = access->constant(kernel.elementsPerThread);
  Value whole = access->lessOrEqual(access->add(first, count), end);
  auto also = [&](Value condition) { whole = LLVM::AndOp::create(b, loc, whole, condition); };
  if (!access->isOneAxis())
    also(access->isZero(LLVM::URemOp::create(b, loc, access->rowLength(), count)));
  for (const KernelTensor *tensor : kernel.tensors())
    if (access->isAdjacent(*tensor))
      also(access->isAligned(*tensor, kernel.elementsPerThread * dispatch::elementBytes(tensor->element)));
  return whole;
}

void KernelEmitter::emitWholePath(Value first) {
  const unsigned count = kernel.elementsPerThread;
  LoopIndices base = access->delinearize(first);
  auto loadLanes = [&](const KernelTensor &tensor, SmallVector<SmallVector<Value>> &lanes) {
    SmallVector<Value> values = access->loadAdjacent(tensor, base, count);
    for (unsigned lane = 0; lane < count; ++lane)
      lanes[lane].push_back(values[lane]);
  };
  SmallVector<SmallVector<Value>> inputs(count), starts(count);
  for (const KernelInput &input : kernel.inputs) {
    if (!input.scalar) {
      loadLanes(input.tensor, inputs);
      continue;
    }
    for (SmallVector<Value> &lane : inputs)
      lane.push_back(scalars.lookup(input.scalar));
  }
  for (const KernelOutput &output : kernel.outputs) {
    if (output.startTensor && !output.bodyArgument.use_empty()) {
      loadLanes(*output.startTensor, starts);
      continue;
    }
    for (SmallVector<Value> &lane : starts)
      lane.push_back(output.startScalar ? scalars.lookup(output.startScalar)
                                        : access->undefined(output.tensor.element));
  }
  SmallVector<SmallVector<Value>> results(kernel.outputs.size());
  for (unsigned lane = 0; lane < count; ++lane) {
    LoopIndices indices = access->advance(base, lane);
    for (auto [result, value] : llvm::enumerate(emitBody(indices, inputs[lane], starts[lane])))
      results[result].push_back(value);
  }
  for (auto [output, values] : llvm::zip_equal(kernel.outputs, results))
    access->storeAdjacent(output.tensor, base, values);
}

void KernelEmitter::emitSinglePath(Value first, Value end) {
  Value last = access->min(access->add(first, access->constant(kernel.elementsPerThread)), end);
  emitElements(first, last, access->constant(1));
}

/// for (element = first; element < last; element += step)
void KernelEmitter::emitElements(Value first, Value last, Value step) {
  Region &region = function.getBody();
  Block *before = b.getInsertionBlock();
  Block *header = b.createBlock(&region, std::next(before->getIterator()), b.getI64Type(), loc);
  Block *body = b.createBlock(&region, std::next(header->getIterator()));
  Block *after = b.createBlock(&region, std::next(body->getIterator()));
  b.setInsertionPointToEnd(before);
  LLVM::BrOp::create(b, loc, first, header);
  Value element = header->getArgument(0);
  b.setInsertionPointToEnd(header);
  LLVM::CondBrOp::create(b, loc, access->less(element, last), body, after);
  b.setInsertionPointToEnd(body);
  emitElement(element);
  Value next = access->add(element, step);
  // Unrolled it would double the kernel, for a path that is rare, or for a fallback.
  auto latch = LLVM::BrOp::create(b, loc, next, header);
  auto unroll = LLVM::LoopUnrollAttr::get(b.getContext(), b.getBoolAttr(true), {}, {}, {}, {}, {}, {});
  latch.setLoopAnnotationAttr(
      LLVM::LoopAnnotationAttr::get(b.getContext(), {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}));
  b.setInsertionPointToEnd(after);
}

SmallVector<Value> KernelEmitter::loadInputs(const LoopIndices &indices) {
  SmallVector<Value> values;
  for (const KernelInput &input : kernel.inputs)
    values.push_back(input.scalar ? scalars.lookup(input.scalar) : access->load(input.tensor, indices));
  return values;
}

SmallVector<Value> KernelEmitter::loadStarts(const LoopIndices &indices) {
  SmallVector<Value> values;
  for (const KernelOutput &output : kernel.outputs) {
    if (output.startTensor && !output.bodyArgument.use_empty())
      values.push_back(access->load(*output.startTensor, indices));
    else
      values.push_back(output.startScalar ? scalars.lookup(output.startScalar)
                                          : access->undefined(output.tensor.element));
  }
  return values;
}

void KernelEmitter::emitElement(Value element) {
  LoopIndices indices = access->delinearize(element);
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  SmallVector<Value> results = emitReduction(reductions, indices, loadStarts(indices));
  for (auto [output, value] : llvm::zip_equal(kernel.outputs, results))
    access->store(output.tensor, indices, value);
}

/// Nested loops over `loops` around the body, accumulators carried; no loops: the body once.
SmallVector<Value> KernelEmitter::emitReduction(ArrayRef<unsigned> loops, LoopIndices &indices,
                                                ValueRange accumulators) {
  if (loops.empty())
    return emitBody(indices, loadInputs(indices), accumulators);
  Region &region = function.getBody();
  Block *before = b.getInsertionBlock();
  SmallVector<Type> types = {b.getI64Type()};
  llvm::append_range(types, accumulators.getTypes());
  SmallVector<Location> locations(types.size(), loc);
  Block *header = b.createBlock(&region, std::next(before->getIterator()), types, locations);
  Block *body = b.createBlock(&region, std::next(header->getIterator()));
  Block *after = b.createBlock(&region, std::next(body->getIterator()));

  b.setInsertionPointToEnd(before);
  SmallVector<Value> enter = {access->constant(0)};
  llvm::append_range(enter, accumulators);
  LLVM::BrOp::create(b, loc, enter, header);
  b.setInsertionPointToEnd(header);
  Value index = header->getArgument(0);
  LLVM::CondBrOp::create(b, loc, access->less(index, access->loopSize(loops.front())), body, after);
  b.setInsertionPointToEnd(body);
  indices.setLoop(loops.front(), index);
  SmallVector<Value> next = emitReduction(loops.drop_front(), indices, header->getArguments().drop_front());
  next.insert(next.begin(), access->add(index, access->constant(1)));
  LLVM::BrOp::create(b, loc, next, header);
  b.setInsertionPointToEnd(after);
  return llvm::to_vector_of<Value>(header->getArguments().drop_front());
}

/// The body of the linalg operation for one element.
SmallVector<Value> KernelEmitter::emitBody(const LoopIndices &indices, ValueRange inputs, ValueRange starts) {
  IRMapping values = scalars;
  for (auto [input, value] : llvm::zip_equal(kernel.inputs, inputs))
    values.map(input.bodyArgument, value);
  for (auto [output, value] : llvm::zip_equal(kernel.outputs, starts))
    values.map(output.bodyArgument, value);
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      Value position = access->loopIndex(indices, index.getDim());
      values.map(index.getResult(),
                 UnrealizedConversionCastOp::create(b, loc, b.getIndexType(), position).getResult(0));
    } else {
      copyScalarOp(inner, values);
    }
  }
  SmallVector<Value> results;
  for (Value result : op.getBody()->getTerminator()->getOperands())
    results.push_back(values.lookup(result));
  return results;
}

} // namespace

FailureOr<LLVM::LLVMFuncOp> emitKernel(const KernelFunction &kernel, StringRef name, ModuleOp module) {
  FailureOr<LLVM::LLVMFuncOp> function = createKernel(kernel, name, module);
  if (succeeded(function))
    KernelEmitter(kernel, *function).run();
  return function;
}

} // namespace tenon::compiler::codegen
