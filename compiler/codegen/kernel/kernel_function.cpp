// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/kernel_function.h"

#include "compiler/dialect/hal/declarations.h"
#include "compiler/dispatch/kernel_config.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

/// Sizes of a tensor from its type and its `tenon.dims`.
FailureOr<SmallVector<Extent>> readShape(func::FuncOp function, RankedTensorType type, Attribute dims) {
  auto positions = dyn_cast_or_null<DenseI64ArrayAttr>(dims);
  const size_t count = positions ? positions.size() : 0;
  if (count != size_t(type.getNumDynamicDims()))
    return function.emitError() << "'" << dispatch::kDimsAttr << "' gives " << count << " sizes, " << type << " has "
                                << type.getNumDynamicDims() << " dynamic dimensions";
  SmallVector<Extent> shape;
  int64_t next = 0;
  for (int64_t size : type.getShape()) {
    if (!ShapedType::isDynamic(size)) {
      shape.push_back({size, {}});
      continue;
    }
    const int64_t argument = positions[next++];
    if (argument < 0 || argument >= int64_t(function.getNumArguments()) ||
        !function.getArgument(argument).getType().isIntOrIndex())
      return function.emitError() << "'" << dispatch::kDimsAttr << "' names argument " << argument
                                  << ", which is not an integer argument of the kernel";
    shape.push_back({0, function.getArgument(argument)});
  }
  return shape;
}

class Reader {
public:
  explicit Reader(func::FuncOp function) { kernel.function = function; }

  LogicalResult run() {
    if (failed(readBody()) || failed(dispatch::verifyKernelOp(kernel.op)) || failed(readArguments()) ||
        failed(readResultBindings()) || failed(readConstants()) || failed(readInputs()) || failed(readOutputs()) ||
        failed(checkTied()))
      return failure();
    return readLoops();
  }

  KernelFunction kernel;

private:
  LogicalResult readBody() {
    func::FuncOp function = kernel.function;
    if (!function.getBody().hasOneBlock())
      return function.emitError() << "a kernel function must have one block";
    for (Operation &op : function.front()) {
      if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
        if (kernel.op)
          return op.emitError() << "a kernel function must hold one linalg.generic";
        kernel.op = generic;
      } else if (!isa<arith::ConstantOp, tensor::EmptyOp, linalg::FillOp, func::ReturnOp>(op) &&
                 !dispatch::isScalarOp(&op)) {
        return op.emitError() << "'" << op.getName() << "' is not supported in a kernel function";
      }
    }
    if (!kernel.op)
      return function.emitError() << "a kernel function must hold one linalg.generic";
    llvm::SmallDenseSet<Value> returned(llvm::from_range, function.front().getTerminator()->getOperands());
    if (function.getNumResults() != kernel.op->getNumResults() ||
        !llvm::all_of(kernel.op->getResults(), [&](Value result) { return returned.contains(result); }))
      return function.emitError() << "a kernel function must return each result of its linalg.generic once";
    return readLaunch();
  }

  LogicalResult readLaunch() {
    func::FuncOp function = kernel.function;
    auto count = function->getAttrOfType<IntegerAttr>(dispatch::kElementsPerThreadAttr);
    if (!count)
      return function.emitError() << "a kernel function needs '" << dispatch::kElementsPerThreadAttr << "'";
    kernel.elementsPerThread = uint32_t(count.getInt());
    if (kernel.elementsPerThread != 1 && kernel.elementsPerThread != dispatch::elementsPerThread(kernel.op))
      return function.emitError() << "'" << dispatch::kElementsPerThreadAttr << "' must be 1 or "
                                  << dispatch::elementsPerThread(kernel.op);
    Attribute workgroup = function->getAttr(dispatch::kWorkgroupSizeAttr);
    if (!workgroup)
      return success();
    auto extents = dyn_cast<DenseI32ArrayAttr>(workgroup);
    if (!extents || extents.size() != 3 || !llvm::all_of(extents.asArrayRef(), [](int32_t n) { return n > 0; }) ||
        kernel.elementsPerThread != 1)
      return function.emitError() << "'" << dispatch::kWorkgroupSizeAttr << "' must be array<i32: x, y, z>, with '"
                                  << dispatch::kElementsPerThreadAttr << "' = 1";
    kernel.workgroupSize = {extents[0], extents[1], extents[2]};
    return success();
  }

  LogicalResult readArguments() {
    for (BlockArgument argument : kernel.function.getArguments()) {
      Type type = argument.getType();
      if (isa<RankedTensorType>(type))
        kernel.tensorArguments.push_back(argument.getArgNumber());
      else if (type.isIndex() || dispatch::isSupportedElement(type))
        kernel.scalarArguments.push_back(argument.getArgNumber());
      else
        return kernel.function.emitError()
               << "argument " << argument.getArgNumber() << " of a kernel has type " << type;
    }
    return success();
  }

  /// A pointer per tensor argument, then one per result of the function that takes no argument's memory.
  LogicalResult readResultBindings() {
    func::FuncOp function = kernel.function;
    kernel.bindings = kernel.tensorArguments.size();
    for (unsigned result = 0; result < function.getNumResults(); ++result) {
      Attribute tied = function.getResultAttr(result, dispatch::kTiedAttr);
      if (!tied) {
        resultBindings_.push_back(kernel.bindings++);
        continue;
      }
      auto argument = dyn_cast<IntegerAttr>(tied);
      const auto *position =
          argument ? llvm::find(kernel.tensorArguments, argument.getInt()) : kernel.tensorArguments.end();
      if (position == kernel.tensorArguments.end())
        return function.emitError() << "'" << dispatch::kTiedAttr << "' of result " << result << " is " << tied
                                    << ", the number of a tensor argument is wanted";
      resultBindings_.push_back(position - kernel.tensorArguments.begin());
    }
    return success();
  }

  LogicalResult readConstants() {
    func::FuncOp function = kernel.function;
    kernel.layout = function->getAttrOfType<hal::PipelineLayoutAttr>(dispatch::kLayoutAttr);
    if (!kernel.layout) {
      for (uint32_t argument : kernel.scalarArguments)
        kernel.constants.push_back({{}, {argument}});
      return success();
    }
    for (Type type : kernel.layout.getConstantTypes())
      kernel.constants.push_back({isa<TupleType, hal::TensorMapType>(type) ? type : Type(), {}});
    kernel.constants.resize(kernel.layout.getConstantCount());
    SmallVector<ConstantOperand> operands = constantOperandsOf(kernel.layout);
    if (operands.size() != kernel.scalarArguments.size() || kernel.layout.getBindings().size() != kernel.bindings)
      return function.emitError() << "'" << dispatch::kLayoutAttr << "' takes " << operands.size() << " scalars and "
                                  << kernel.layout.getBindings().size() << " bindings, the kernel function has "
                                  << kernel.scalarArguments.size() << " and " << kernel.bindings;
    for (auto [operand, argument] : llvm::zip_equal(operands, kernel.scalarArguments))
      kernel.constants[operand.constant].arguments.push_back(argument);
    return success();
  }

  FailureOr<KernelTensor> readTensor(OpOperand &operand) {
    auto argument = dyn_cast<BlockArgument>(operand.get());
    if (!argument || argument.getOwner() != &kernel.function.front())
      return kernel.op.emitError() << "operand " << operand.getOperandNumber()
                                   << " of a kernel's operation must be an argument of the kernel function";
    const unsigned number = argument.getArgNumber();
    auto type = cast<RankedTensorType>(argument.getType());
    auto shape = readShape(kernel.function, type, kernel.function.getArgAttr(number, dispatch::kDimsAttr));
    if (failed(shape))
      return failure();
    const auto *position = llvm::find(kernel.tensorArguments, number);
    return KernelTensor{type.getElementType(), kernel.op.getMatchingIndexingMap(&operand), *shape,
                        uint32_t(position - kernel.tensorArguments.begin())};
  }

  LogicalResult readInputs() {
    for (OpOperand *operand : kernel.op.getDpsInputOperands()) {
      KernelInput input;
      input.bodyArgument = kernel.op.getMatchingBlockArgument(operand);
      if (isa<RankedTensorType>(operand->get().getType())) {
        FailureOr<KernelTensor> tensor = readTensor(*operand);
        if (failed(tensor))
          return failure();
        input.tensor = *tensor;
      } else {
        input.scalar = operand->get();
      }
      kernel.inputs.push_back(input);
    }
    return success();
  }

  LogicalResult readOutputs() {
    Operation *terminator = kernel.function.front().getTerminator();
    for (auto [number, init] : llvm::enumerate(kernel.op.getDpsInitsMutable())) {
      KernelOutput output;
      output.bodyArgument = kernel.op.getMatchingBlockArgument(&init);
      const auto returned = llvm::find(terminator->getOperands(), kernel.op->getResult(number));
      const unsigned result = returned - terminator->operand_begin();
      auto shape = readResultShape(result, init.get());
      if (failed(shape))
        return failure();
      output.tensor = {cast<RankedTensorType>(init.get().getType()).getElementType(),
                       kernel.op.getMatchingIndexingMap(&init), *shape, resultBindings_[result]};
      if (auto fill = init.get().getDefiningOp<linalg::FillOp>()) {
        output.startScalar = fill.getInputs()[0];
      } else if (!init.get().getDefiningOp<tensor::EmptyOp>()) {
        FailureOr<KernelTensor> start = readTensor(init);
        if (failed(start))
          return failure();
        output.startTensor = *start;
      }
      kernel.outputs.push_back(output);
    }
    return success();
  }

  /// What a result is said to measure; where nothing is said, what it starts from does.
  FailureOr<SmallVector<Extent>> readResultShape(unsigned result, Value start) {
    func::FuncOp function = kernel.function;
    auto type = cast<RankedTensorType>(start.getType());
    Attribute dims = function.getResultAttr(result, dispatch::kDimsAttr);
    if (dims || type.hasStaticShape())
      return readShape(function, type, dims);
    if (auto fill = start.getDefiningOp<linalg::FillOp>())
      start = fill.getOutputs()[0];
    if (auto argument = dyn_cast<BlockArgument>(start))
      return readShape(function, type, function.getArgAttr(argument.getArgNumber(), dispatch::kDimsAttr));
    auto empty = start.getDefiningOp<tensor::EmptyOp>();
    if (!empty)
      return function.emitError() << "'" << dispatch::kDimsAttr << "' gives 0 sizes, result " << result << " has type "
                                  << type;
    SmallVector<Extent> shape;
    unsigned next = 0;
    for (int64_t size : type.getShape())
      shape.push_back(ShapedType::isDynamic(size) ? Extent{0, empty.getDynamicSizes()[next++]} : Extent{size, {}});
    return shape;
  }

  /// A result that is written over an argument: no thread may read there what another has written already.
  LogicalResult checkTied() {
    for (const KernelOutput &output : kernel.outputs) {
      if (output.tensor.binding >= kernel.tensorArguments.size())
        continue;
      for (const KernelTensor *tensor : kernel.tensors()) {
        if (tensor->binding != output.tensor.binding || tensor == &output.tensor)
          continue;
        if (dispatch::elementBytes(tensor->element) != dispatch::elementBytes(output.tensor.element))
          return kernel.op.emitError() << "no kernel can be generated: elements of " << output.tensor.element
                                       << " are written over elements of " << tensor->element
                                       << ", elements of one size are wanted: let the argument hold elements of the "
                                          "result's size, or write to a tensor of its own";
        if (tensor->map != output.tensor.map)
          return kernel.op.emitError() << "no kernel can be generated: a result is written over argument "
                                       << kernel.tensorArguments[tensor->binding]
                                       << ", which is read elsewhere than it is written ("
                                       << AffineMapAttr::get(tensor->map) << ", the result has "
                                       << AffineMapAttr::get(output.tensor.map)
                                       << "): a thread would read what another has written; read it where it is "
                                          "written, or write to a tensor of its own";
      }
    }
    return success();
  }

  /// The size of a loop is that of any dimension it indexes alone; a known size is best.
  LogicalResult readLoops() {
    for (unsigned loop = 0; loop < kernel.op.getNumLoops(); ++loop) {
      std::optional<Extent> extent;
      auto look = [&](const KernelTensor &tensor) {
        for (auto [position, expr] : llvm::enumerate(tensor.map.getResults())) {
          auto dim = dyn_cast<AffineDimExpr>(expr);
          if (dim && dim.getPosition() == loop && (!extent || extent->value))
            extent = tensor.shape[position];
        }
      };
      for (const KernelOutput &output : kernel.outputs)
        look(output.tensor);
      for (const KernelInput &input : kernel.inputs)
        if (!input.scalar)
          look(input.tensor);
      if (!extent)
        return kernel.op.emitError() << "no kernel can be generated: no operand gives the size of loop " << loop;
      kernel.loops.push_back(*extent);
    }
    return success();
  }

  SmallVector<uint32_t> resultBindings_; // [results of the function]
};

} // namespace

SmallVector<const KernelTensor *> KernelFunction::tensors() const {
  SmallVector<const KernelTensor *> all;
  for (const KernelInput &input : inputs)
    if (!input.scalar)
      all.push_back(&input.tensor);
  for (const KernelOutput &output : outputs) {
    if (output.startTensor && !output.bodyArgument.use_empty())
      all.push_back(&*output.startTensor);
    all.push_back(&output.tensor);
  }
  return all;
}

bool KernelFunction::isWritten(uint32_t binding) const {
  return llvm::any_of(outputs, [&](const KernelOutput &output) { return output.tensor.binding == binding; });
}

FailureOr<KernelFunction> KernelFunction::read(func::FuncOp function) {
  Reader reader(function);
  if (failed(reader.run()))
    return failure();
  return std::move(reader.kernel);
}

} // namespace tenon::compiler::codegen
