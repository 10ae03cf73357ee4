// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/kernel_signature.h"

#include "compiler/dialect/hal/declarations.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {

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

LogicalResult readLaunch(KernelFunction &kernel) {
  func::FuncOp function = kernel.function;
  kernel.strategy = function->getAttrOfType<DictionaryAttr>(dispatch::kStrategyAttr);
  if (kernel.strategy) {
    auto threads = kernel.strategy.getAs<IntegerAttr>("threads");
    if (!threads || threads.getInt() < 1 || threads.getInt() > 1024)
      return function.emitError() << "'" << dispatch::kStrategyAttr << "' needs 'threads' from 1 to 1024";
    kernel.threads = uint32_t(threads.getInt());
    return success();
  }
  auto count = function->getAttrOfType<IntegerAttr>(dispatch::kElementsPerThreadAttr);
  if (kernel.along.op && count)
    return function.emitError() << "'" << dispatch::kElementsPerThreadAttr << "' computes a linalg.generic";
  if (kernel.along.op)
    return success(); // not chosen yet
  linalg::GenericOp only = kernel.ops.front().op;
  if (count && (kernel.ops.size() != 1 || only->getNumResults() != function.getNumResults()))
    return function.emitError() << "'" << dispatch::kElementsPerThreadAttr
                                << "' computes one linalg.generic, and returns each result of it";
  if (!count)
    return success(); // not chosen yet
  kernel.elementsPerThread = uint32_t(count.getInt());
  if (kernel.elementsPerThread != 1 && kernel.elementsPerThread != dispatch::elementsPerThread(only))
    return function.emitError() << "'" << dispatch::kElementsPerThreadAttr << "' must be 1 or "
                                << dispatch::elementsPerThread(only);
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

LogicalResult readArguments(KernelFunction &kernel) {
  for (BlockArgument argument : kernel.function.getArguments()) {
    Type type = argument.getType();
    if (isa<RankedTensorType>(type))
      kernel.tensorArguments.push_back(argument.getArgNumber());
    else if (type.isIndex() || dispatch::isSupportedElement(type))
      kernel.scalarArguments.push_back(argument.getArgNumber());
    else
      return kernel.function.emitError() << "argument " << argument.getArgNumber() << " of a kernel has type " << type;
  }
  return success();
}

FailureOr<SmallVector<uint32_t>> readResultBindings(KernelFunction &kernel) {
  func::FuncOp function = kernel.function;
  kernel.bindings = kernel.tensorArguments.size();
  SmallVector<uint32_t> bindings;
  for (unsigned result = 0; result < function.getNumResults(); ++result) {
    Attribute tied = function.getResultAttr(result, dispatch::kTiedAttr);
    if (!tied) {
      bindings.push_back(kernel.bindings++);
      continue;
    }
    auto argument = dyn_cast<IntegerAttr>(tied);
    const auto *position =
        argument ? llvm::find(kernel.tensorArguments, argument.getInt()) : kernel.tensorArguments.end();
    if (position == kernel.tensorArguments.end())
      return function.emitError() << "'" << dispatch::kTiedAttr << "' of result " << result << " is " << tied
                                  << ", the number of a tensor argument is wanted";
    bindings.push_back(position - kernel.tensorArguments.begin());
  }
  return bindings;
}

LogicalResult readConstants(KernelFunction &kernel) {
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

} // namespace tenon::compiler::codegen
