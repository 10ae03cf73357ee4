// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/kernel_parameters.h"

#include "abi/parameter_layout.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dispatch/kernel_config.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

/// As its export declares them; where the compiler declares it, a constant for each scalar argument.
FailureOr<abi::ParameterLayout> parametersOf(const KernelFunction &kernel) {
  func::FuncOp source = kernel.function;
  abi::Layout layout;
  if (kernel.layout) {
    layout = layoutOf(kernel.layout);
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
  return block.take();
}

/// What is more than a scalar is passed by value: its bytes are the parameter, and the kernel sees a pointer to them.
bool isByValue(const KernelFunction &kernel, const abi::Parameter &parameter) {
  return parameter.kind == abi::ParameterKind::Constant && kernel.constants[parameter.index].declared;
}

/// Types of the kernel's parameters, in the order of the parameter block.
SmallVector<Type> parameterTypes(const KernelFunction &kernel, const abi::ParameterLayout &block, OpBuilder &b) {
  func::FuncOp source = kernel.function;
  SmallVector<Type> types;
  for (const abi::Parameter &parameter : block.parameters) {
    if (parameter.kind == abi::ParameterKind::Binding)
      types.push_back(LLVM::LLVMPointerType::get(b.getContext(), /*addressSpace=*/1));
    else if (isByValue(kernel, parameter))
      types.push_back(LLVM::LLVMPointerType::get(b.getContext()));
    else
      types.push_back(parameterType(source.getArgument(kernel.constants[parameter.index].arguments.front()).getType()));
  }
  return types;
}

} // namespace

Type parameterType(Type type) {
  if (type.isIndex() || type.isInteger(1))
    return IntegerType::get(type.getContext(), type.isIndex() ? 64 : 8);
  return type;
}

FailureOr<LLVM::LLVMFuncOp> createKernel(const KernelFunction &kernel, StringRef name, ModuleOp module) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  FailureOr<abi::ParameterLayout> block = parametersOf(kernel);
  if (failed(block))
    return failure();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), parameterTypes(kernel, *block, b));
  auto function = LLVM::LLVMFuncOp::create(b, linalg::GenericOp(kernel.op).getLoc(), name, type);
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
  const std::array<int32_t, 3> workgroup =
      kernel.workgroupSize.value_or(std::array<int32_t, 3>{int32_t(dispatch::kThreadsPerWorkgroup), 1, 1});
  function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), b.getDenseI32ArrayAttr(workgroup));
  for (auto [i, parameter] : llvm::enumerate(block->parameters)) {
    if (!isByValue(kernel, parameter))
      continue;
    auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), parameter.size);
    function.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(bytes));
    function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(parameter.alignment));
  }
  for (uint32_t i = 0; i < kernel.bindings; ++i) {
    if (!kernel.workgroupSize)
      function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
    if (!kernel.isWritten(i))
      function.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(), b.getUnitAttr());
    else if (i >= kernel.tensorArguments.size())
      function.setArgAttr(i, LLVM::LLVMDialect::getWriteOnlyAttrName(), b.getUnitAttr());
  }
  return function;
}

} // namespace tenon::compiler::codegen
