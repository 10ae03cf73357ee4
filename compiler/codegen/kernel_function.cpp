#include "compiler/codegen/kernel_function.h"

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
      shape.push_back({size, -1});
      continue;
    }
    const int64_t argument = positions[next++];
    if (argument < 0 || argument >= int64_t(function.getNumArguments()) ||
        !function.getArgument(argument).getType().isInteger(64))
      return function.emitError() << "'" << dispatch::kDimsAttr << "' names argument " << argument
                                  << ", which is not an i64 argument of the kernel";
    shape.push_back({0, int32_t(argument)});
  }
  return shape;
}

class Reader {
public:
  explicit Reader(func::FuncOp function) { kernel.function = function; }

  LogicalResult run() {
    if (failed(readBody()) || failed(dispatch::verifyKernelOp(kernel.op)) || failed(readArguments()) ||
        failed(readInputs()) || failed(readOutputs()))
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
      } else if (!isa<arith::ConstantOp, arith::IndexCastOp, tensor::EmptyOp, linalg::FillOp, func::ReturnOp>(op)) {
        return op.emitError() << "'" << op.getName() << "' is not supported in a kernel function";
      }
    }
    if (!kernel.op)
      return function.emitError() << "a kernel function must hold one linalg.generic";
    if (!llvm::equal(function.front().getTerminator()->getOperands(), kernel.op->getResults()))
      return function.emitError() << "a kernel function must return the results of its linalg.generic, in order";
    auto count = function->getAttrOfType<IntegerAttr>(dispatch::kElementsPerThreadAttr);
    if (!count)
      return function.emitError() << "a kernel function needs '" << dispatch::kElementsPerThreadAttr << "'";
    kernel.elementsPerThread = uint32_t(count.getInt());
    if (kernel.elementsPerThread != 1 && kernel.elementsPerThread != dispatch::elementsPerThread(kernel.op))
      return function.emitError() << "'" << dispatch::kElementsPerThreadAttr << "' must be 1 or "
                                  << dispatch::elementsPerThread(kernel.op);
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
    uint32_t binding = kernel.tensorArguments.size();
    for (auto [number, init] : llvm::enumerate(kernel.op.getDpsInitsMutable())) {
      KernelOutput output;
      output.bodyArgument = kernel.op.getMatchingBlockArgument(&init);
      auto type = cast<RankedTensorType>(init.get().getType());
      auto shape = readShape(kernel.function, type, kernel.function.getResultAttr(number, dispatch::kDimsAttr));
      if (failed(shape))
        return failure();
      output.tensor = {type.getElementType(), kernel.op.getMatchingIndexingMap(&init), *shape, binding++};
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

  /// The size of a loop is that of any dimension it indexes alone; a known size is best.
  LogicalResult readLoops() {
    for (unsigned loop = 0; loop < kernel.op.getNumLoops(); ++loop) {
      std::optional<Extent> extent;
      auto look = [&](const KernelTensor &tensor) {
        for (auto [position, expr] : llvm::enumerate(tensor.map.getResults())) {
          auto dim = dyn_cast<AffineDimExpr>(expr);
          if (dim && dim.getPosition() == loop && (!extent || extent->argument >= 0))
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
};

} // namespace

FailureOr<KernelFunction> KernelFunction::read(func::FuncOp function) {
  Reader reader(function);
  if (failed(reader.run()))
    return failure();
  return std::move(reader.kernel);
}

} // namespace tenon::compiler::codegen
