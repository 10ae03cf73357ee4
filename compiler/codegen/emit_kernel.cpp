// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/emit_kernel.h"

#include "abi/struct_layout.h"
#include "compiler/codegen/along/write_along.h"
#include "compiler/codegen/kernel/bodies/element_access.h"
#include "compiler/codegen/kernel/bodies/gathered.h"
#include "compiler/codegen/kernel/kernel_arguments.h"
#include "compiler/codegen/kernel/kernel_parameters.h"
#include "compiler/codegen/strategies/write_kernel.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/reduction_body.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

class KernelEmitter {
public:
  KernelEmitter(const KernelFunction &kernel, const abi::ParameterLayout &parameters, LLVM::LLVMFuncOp function)
      : kernel_(kernel), parameters_(parameters), source_(kernel.function), op_(kernel.only().op), function_(function),
        b_(function.getContext()), loc_(op_.getLoc()) {
    if (op_.getNumReductionLoops() != 0)
      accumulators_ = dispatch::reductionBodyOf(op_).value_or(SmallVector<dispatch::Accumulator>());
  }

  void run();

private:
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
  Type sumType(unsigned result, Type element) const;

  /// A special register, which has 32 bits.
  template <typename Register> Value special() {
    return LLVM::ZExtOp::create(b_, loc_, b_.getI64Type(), Register::create(b_, loc_, b_.getI32Type()));
  }

  const KernelFunction &kernel_;
  const abi::ParameterLayout &parameters_;
  func::FuncOp source_;
  linalg::GenericOp op_;
  LLVM::LLVMFuncOp function_;
  OpBuilder b_;
  Location loc_;
  SmallVector<dispatch::Accumulator> accumulators_; // of the results; none where the body does more than combine
  std::optional<KernelArguments> arguments_;
  std::optional<ElementAccess> access_;
};

/// In which type a result is summed, as in every other kernel.
Type KernelEmitter::sumType(unsigned result, Type element) const {
  return accumulators_.empty() ? element : dispatch::accumulatorType(accumulators_[result].combiner, element);
}

void KernelEmitter::run() {
  Block *entry = function_.addEntryBlock(b_);
  b_.setInsertionPointToStart(entry);
  arguments_.emplace(mapArguments(kernel_, parameters_, function_, b_));
  access_.emplace(kernel_, b_, loc_, arguments_->pointers, arguments_->sizes);
  if (kernel_.workgroupSize)
    return emitAnyGrid(*kernel_.workgroupSize);
  Value group = special<NVVM::BlockIdXOp>();
  Value lane = special<NVVM::ThreadIdXOp>();
  Value thread = access_->add(access_->mul(group, access_->constant(dispatch::kThreadsPerWorkgroup)), lane);
  Value first = access_->mul(thread, access_->constant(kernel_.elementsPerThread));
  Value end = access_->elementCount();

  Block *done = b_.createBlock(&function_.getBody(), function_.getBody().end());
  LLVM::ReturnOp::create(b_, loc_, ValueRange());
  b_.setInsertionPointToEnd(entry);
  if (kernel_.elementsPerThread == 1) {
    Block *body = b_.createBlock(done);
    b_.setInsertionPointToEnd(entry);
    LLVM::CondBrOp::create(b_, loc_, access_->less(first, end), body, done);
    b_.setInsertionPointToEnd(body);
    emitElement(first);
    LLVM::BrOp::create(b_, loc_, ValueRange(), done);
    return;
  }
  Block *whole = b_.createBlock(done);
  Block *single = b_.createBlock(done);
  b_.setInsertionPointToEnd(entry);
  LLVM::CondBrOp::create(b_, loc_, isWhole(first, end), whole, single);
  b_.setInsertionPointToEnd(whole);
  emitWholePath(first);
  LLVM::BrOp::create(b_, loc_, ValueRange(), done);
  b_.setInsertionPointToEnd(single);
  emitSinglePath(first, end);
  LLVM::BrOp::create(b_, loc_, ValueRange(), done);
}

/// Blocks and threads are numbered over all three dimensions: the thread starts at its own number and steps by the
/// number of all threads.
void KernelEmitter::emitAnyGrid(const std::array<int32_t, 3> &size) {
  auto extent = [&](unsigned dimension) { return access_->constant(size[dimension]); };
  auto number = [&](Value x, Value y, Value z, Value sizeX, Value sizeY) {
    return access_->add(x, access_->mul(sizeX, access_->add(y, access_->mul(sizeY, z))));
  };
  Value gridX = special<NVVM::GridDimXOp>(), gridY = special<NVVM::GridDimYOp>(), gridZ = special<NVVM::GridDimZOp>();
  Value group =
      number(special<NVVM::BlockIdXOp>(), special<NVVM::BlockIdYOp>(), special<NVVM::BlockIdZOp>(), gridX, gridY);
  Value lane = number(special<NVVM::ThreadIdXOp>(), special<NVVM::ThreadIdYOp>(), special<NVVM::ThreadIdZOp>(),
                      extent(0), extent(1));
  Value threads = access_->constant(int64_t(size[0]) * size[1] * size[2]);
  Value step = access_->mul(access_->mul(gridX, access_->mul(gridY, gridZ)), threads);
  emitElements(access_->add(access_->mul(group, threads), lane), access_->elementCount(), step);
  LLVM::ReturnOp::create(b_, loc_, ValueRange());
}

Value KernelEmitter::isWhole(Value first, Value end) {
  Value count = access_->constant(kernel_.elementsPerThread);
  Value whole = access_->lessOrEqual(access_->add(first, count), end);
  auto also = [&](Value condition) { whole = LLVM::AndOp::create(b_, loc_, whole, condition); };
  if (!access_->isOneAxis())
    also(access_->isZero(LLVM::URemOp::create(b_, loc_, access_->rowLength(), count)));
  for (const KernelTensor *tensor : kernel_.tensors())
    if (access_->isAdjacent(*tensor))
      also(access_->isAligned(*tensor, kernel_.elementsPerThread * dispatch::elementBytes(tensor->element)));
  return whole;
}

void KernelEmitter::emitWholePath(Value first) {
  const unsigned count = kernel_.elementsPerThread;
  LoopIndices base = access_->delinearize(first);
  auto loadLanes = [&](const KernelTensor &tensor, SmallVector<SmallVector<Value>> &lanes) {
    SmallVector<Value> values = access_->loadAdjacent(tensor, base, count);
    for (unsigned lane = 0; lane < count; ++lane)
      lanes[lane].push_back(values[lane]);
  };
  SmallVector<SmallVector<Value>> inputs(count), starts(count);
  for (const KernelInput &input : kernel_.only().inputs) {
    if (!input.scalar) {
      loadLanes(input.tensor, inputs);
      continue;
    }
    for (SmallVector<Value> &lane : inputs)
      lane.push_back(arguments_->scalars.lookup(input.scalar));
  }
  for (const KernelOutput &output : kernel_.only().outputs) {
    if (output.startTensor) {
      loadLanes(*output.startTensor, starts);
      continue;
    }
    for (SmallVector<Value> &lane : starts)
      lane.push_back(output.startScalar ? arguments_->scalars.lookup(output.startScalar)
                                        : access_->undefined(output.tensor.element));
  }
  SmallVector<SmallVector<Value>> results(kernel_.only().outputs.size());
  for (unsigned lane = 0; lane < count; ++lane) {
    LoopIndices indices = access_->advance(base, lane);
    for (auto [result, value] : llvm::enumerate(emitBody(indices, inputs[lane], starts[lane])))
      results[result].push_back(value);
  }
  for (auto [output, values] : llvm::zip_equal(kernel_.only().outputs, results))
    access_->storeAdjacent(output.tensor, base, values);
}

void KernelEmitter::emitSinglePath(Value first, Value end) {
  Value last = access_->min(access_->add(first, access_->constant(kernel_.elementsPerThread)), end);
  emitElements(first, last, access_->constant(1));
}

/// for (element = first; element < last; element += step)
void KernelEmitter::emitElements(Value first, Value last, Value step) {
  Region &region = function_.getBody();
  Block *before = b_.getInsertionBlock();
  Block *header = b_.createBlock(&region, std::next(before->getIterator()), b_.getI64Type(), loc_);
  Block *body = b_.createBlock(&region, std::next(header->getIterator()));
  Block *after = b_.createBlock(&region, std::next(body->getIterator()));
  b_.setInsertionPointToEnd(before);
  LLVM::BrOp::create(b_, loc_, first, header);
  Value element = header->getArgument(0);
  b_.setInsertionPointToEnd(header);
  LLVM::CondBrOp::create(b_, loc_, access_->less(element, last), body, after);
  b_.setInsertionPointToEnd(body);
  emitElement(element);
  Value next = access_->add(element, step);
  // Unrolled it would double the kernel, for a path that is rare, or for a fallback.
  auto latch = LLVM::BrOp::create(b_, loc_, next, header);
  auto unroll = LLVM::LoopUnrollAttr::get(b_.getContext(), b_.getBoolAttr(true), {}, {}, {}, {}, {}, {});
  latch.setLoopAnnotationAttr(
      LLVM::LoopAnnotationAttr::get(b_.getContext(), {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}));
  b_.setInsertionPointToEnd(after);
}

SmallVector<Value> KernelEmitter::loadInputs(const LoopIndices &indices) {
  SmallVector<Value> values;
  for (const KernelInput &input : kernel_.only().inputs)
    values.push_back(input.scalar ? arguments_->scalars.lookup(input.scalar) : access_->load(input.tensor, indices));
  return values;
}

SmallVector<Value> KernelEmitter::loadStarts(const LoopIndices &indices) {
  SmallVector<Value> values;
  for (const KernelOutput &output : kernel_.only().outputs) {
    if (output.startTensor)
      values.push_back(access_->load(*output.startTensor, indices));
    else
      values.push_back(output.startScalar ? arguments_->scalars.lookup(output.startScalar)
                                          : access_->undefined(output.tensor.element));
  }
  return values;
}

void KernelEmitter::emitElement(Value element) {
  LoopIndices indices = access_->delinearize(element);
  SmallVector<unsigned> reductions;
  op_.getReductionDims(reductions);
  SmallVector<Value> sums = loadStarts(indices);
  for (auto [result, sum] : llvm::enumerate(sums))
    if (Type type = sumType(result, sum.getType()); type != sum.getType())
      sum = arith::ExtFOp::create(b_, loc_, type, sum);
  for (auto [output, value] : llvm::zip_equal(kernel_.only().outputs, emitReduction(reductions, indices, sums))) {
    Type element = output.tensor.element;
    if (value.getType() != element)
      value = arith::TruncFOp::create(b_, loc_, element, value);
    access_->store(output.tensor, indices, value);
  }
}

/// Nested loops over `loops` around the body, accumulators carried; no loops: the body once.
SmallVector<Value> KernelEmitter::emitReduction(ArrayRef<unsigned> loops, LoopIndices &indices,
                                                ValueRange accumulators) {
  if (loops.empty())
    return emitBody(indices, loadInputs(indices), accumulators);
  Region &region = function_.getBody();
  Block *before = b_.getInsertionBlock();
  SmallVector<Type> types = {b_.getI64Type()};
  llvm::append_range(types, accumulators.getTypes());
  SmallVector<Location> locations(types.size(), loc_);
  Block *header = b_.createBlock(&region, std::next(before->getIterator()), types, locations);
  Block *body = b_.createBlock(&region, std::next(header->getIterator()));
  Block *after = b_.createBlock(&region, std::next(body->getIterator()));

  b_.setInsertionPointToEnd(before);
  SmallVector<Value> enter = {access_->constant(0)};
  llvm::append_range(enter, accumulators);
  LLVM::BrOp::create(b_, loc_, enter, header);
  b_.setInsertionPointToEnd(header);
  Value index = header->getArgument(0);
  LLVM::CondBrOp::create(b_, loc_, access_->less(index, access_->loopSize(loops.front())), body, after);
  b_.setInsertionPointToEnd(body);
  indices.setLoop(loops.front(), index);
  SmallVector<Value> next = emitReduction(loops.drop_front(), indices, header->getArguments().drop_front());
  next.insert(next.begin(), access_->add(index, access_->constant(1)));
  LLVM::BrOp::create(b_, loc_, next, header);
  b_.setInsertionPointToEnd(after);
  return llvm::to_vector_of<Value>(header->getArguments().drop_front());
}

/// The body of the linalg operation for one element.
SmallVector<Value> KernelEmitter::emitBody(const LoopIndices &indices, ValueRange inputs, ValueRange starts) {
  IRMapping values = arguments_->scalars;
  for (auto [input, value] : llvm::zip_equal(kernel_.only().inputs, inputs))
    values.map(input.bodyArgument, value);
  for (auto [output, value] : llvm::zip_equal(kernel_.only().outputs, starts))
    values.map(output.bodyArgument, value);
  for (Operation &inner : op_.getBody()->without_terminator()) {
    const auto *accumulator =
        llvm::find_if(accumulators_, [&](const dispatch::Accumulator &each) { return each.operation == &inner; });
    if (accumulator != accumulators_.end()) {
      Value contributed = values.lookupOrDefault(accumulator->contributed);
      values.map(inner.getResult(0),
                 dispatch::combineBy(b_, loc_, *accumulator, starts[accumulator - accumulators_.begin()], contributed));
    } else if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      Value position = access_->loopIndex(indices, index.getDim());
      values.map(index.getResult(),
                 UnrealizedConversionCastOp::create(b_, loc_, b_.getIndexType(), position).getResult(0));
    } else if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
      KernelBuilder k(b_, loc_, function_, kernel_.threads);
      SmallVector<Lanes> indices;
      for (Value position : extract.getIndices())
        indices.push_back(Lanes::same(arith::IndexCastOp::create(b_, loc_, b_.getI64Type(), values.lookup(position))));
      const KernelTensor &tensor = kernel_.gathered.find(extract.getTensor())->second;
      values.map(extract.getResult(),
                 loadGathered(k, *arguments_, tensor, indices, /*width=*/1, /*isStreamed=*/false)[0]);
    } else if (inner.getNumResults() != 0) {
      copyScalarOp(b_, inner, values);
      if (inner.getNumRegions() != 0) {
        KernelBuilder k(b_, loc_, function_, kernel_.threads);
        loadInLoop(k, kernel_, *arguments_, values.lookup(inner.getResult(0)).getDefiningOp());
      }
    }
  }
  SmallVector<Value> results;
  for (Value result : op_.getBody()->getTerminator()->getOperands())
    results.push_back(values.lookup(result));
  return results;
}

} // namespace

FailureOr<LLVM::LLVMFuncOp> emitKernel(const KernelFunction &kernel, StringRef name, const abi::TargetArch &target,
                                       ModuleOp module) {
  func::FuncOp source = kernel.function;
  if (!kernel.strategy && !source->hasAttr(dispatch::kElementsPerThreadAttr))
    return source.emitError() << "a kernel function needs '" << dispatch::kElementsPerThreadAttr << "' or '"
                              << dispatch::kStrategyAttr << "'";
  FailureOr<abi::ParameterLayout> parameters = parametersOf(kernel);
  if (failed(parameters))
    return failure();
  KernelFunction launched = kernel;
  if (kernel.strategy && !kernel.along.op) {
    FailureOr<uint32_t> threads = threadsFor(kernel, target);
    if (failed(threads))
      return failure();
    launched.threads = *threads;
  }
  LLVM::LLVMFuncOp function = createKernel(launched, *parameters, name, module);
  if (kernel.strategy) {
    if (failed(kernel.along.op ? writeAlong(kernel, *parameters, function)
                               : writeKernel(kernel, *parameters, target, function)))
      return failure();
    return function;
  }
  KernelEmitter(kernel, *parameters, function).run();
  return function;
}

} // namespace tenon::compiler::codegen
