// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/kernel_parameters.h"

#include "abi/parameter_layout.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tenon::compiler::codegen {
FailureOr<abi::ParameterLayout> parametersOf(const KernelFunction &kernel) {
  func::FuncOp source = kernel.function;
  abi::Layout layout;
  if (kernel.layout) {
    layout = layoutOf(kernel.layout);
    for (const abi::DeclaredParameter &parameter : layout.parameters)
      if (parameter.kind == abi::ParameterKind::Constant && !parameter.members.empty())
        return source.emitError() << "no kernel can be generated: pointers stand within constant " << parameter.index
                                  << ", whose bytes are arguments of the function: declare a struct that has the "
                                     "constants as members, 'struct<SIZE, alignment = N>(binding 0 at 0, constant 0 at "
                                     "8)'";
  } else {
    layout.bindings.resize(kernel.bindings);
    for (uint32_t argument : kernel.scalarArguments) {
      std::optional<abi::ElementType> element = elementTypeOf(source.getArgument(argument).getType());
      if (!element)
        return source.emitError() << "argument " << argument << " of a kernel has type "
                                  << source.getArgument(argument).getType();
      layout.constants.push_back(abi::Constant::scalar(*element));
    }
  }
  Result<abi::ParameterLayout> block = abi::computeParameterLayout(layout);
  if (!block.ok())
    return source.emitError() << "no kernel can be generated: " << block.status().message();
  SmallVector<bool> hasPointer(layout.bindings.size());
  for (const abi::Slot &slot : block->slots)
    if (slot.kind == abi::ParameterKind::Binding)
      hasPointer[slot.index] = true;
  for (auto [i, has] : llvm::enumerate(hasPointer))
    if (!has)
      return source.emitError() << "no kernel can be generated: the layout's parameters leave out binding " << i
                                << ", to which a tensor map leads; generated code reads the tensor and not its map, so "
                                   "list the binding too, or drop the fallback";
  return block.take();
}

namespace {

/// What is more than a scalar is passed by value: its bytes are the parameter, and the kernel sees a pointer to them.
bool isByValue(const KernelFunction &kernel, const abi::Parameter &parameter) {
  return parameter.kind == abi::ParameterKind::Struct ||
         (parameter.kind == abi::ParameterKind::Constant && kernel.constants[parameter.index].declared);
}

/// Types of the kernel's parameters, in the order of the parameter block.
SmallVector<Type> parameterTypes(const KernelFunction &kernel, const abi::ParameterLayout &block, OpBuilder &b) {
  func::FuncOp source = kernel.function;
  SmallVector<Type> types;
  for (const abi::Parameter &parameter : block.parameters) {
    if (isByValue(kernel, parameter))
      types.push_back(LLVM::LLVMPointerType::get(b.getContext()));
    else if (parameter.kind == abi::ParameterKind::Constant)
      types.push_back(parameterType(source.getArgument(kernel.constants[parameter.index].arguments.front()).getType()));
    else
      types.push_back(LLVM::LLVMPointerType::get(b.getContext(), /*addressSpace=*/1));
  }
  return types;
}

} // namespace

Type parameterType(Type type) {
  if (type.isIndex() || type.isInteger(1))
    return IntegerType::get(type.getContext(), type.isIndex() ? 64 : 8);
  return type;
}

LLVM::LLVMFuncOp createKernel(const KernelFunction &kernel, const abi::ParameterLayout &parameters, StringRef name,
                              ModuleOp module) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), parameterTypes(kernel, parameters, b));
  auto function = LLVM::LLVMFuncOp::create(b, kernel.loc(), name, type);
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
  const std::array<int32_t, 3> workgroup =
      kernel.workgroupSize.value_or(std::array<int32_t, 3>{int32_t(kernel.threads), 1, 1});
  function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), b.getDenseI32ArrayAttr(workgroup));
  for (auto [i, parameter] : llvm::enumerate(parameters.parameters)) {
    if (!isByValue(kernel, parameter))
      continue;
    auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), parameter.size);
    function.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(bytes));
    function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(parameter.alignment));
    // Nobody writes to it, so that its address can be taken where it was passed, as copies by a tensor map want it.
    if (parameter.kind == abi::ParameterKind::Constant &&
        isa_and_nonnull<hal::TensorMapType>(kernel.constants[parameter.index].declared))
      function.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(), b.getUnitAttr());
  }
  for (const abi::Slot &slot : parameters.slots) {
    if (slot.kind != abi::ParameterKind::Binding ||
        parameters.parameters[slot.parameter].kind != abi::ParameterKind::Binding)
      continue; // of a pointer in a struct nothing can be said here
    if (!kernel.workgroupSize && !(kernel.overwrites() && kernel.isWritten(slot.index)))
      function.setArgAttr(slot.parameter, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
    if (!kernel.isWritten(slot.index))
      function.setArgAttr(slot.parameter, LLVM::LLVMDialect::getReadonlyAttrName(), b.getUnitAttr());
    else if (slot.index >= kernel.tensorArguments.size() && !kernel.along.op)
      function.setArgAttr(slot.parameter, LLVM::LLVMDialect::getWriteOnlyAttrName(), b.getUnitAttr());
  }
  return function;
}

} // namespace tenon::compiler::codegen
