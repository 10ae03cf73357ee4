// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/kernel_arguments.h"

#include "abi/struct_layout.h"
#include "compiler/codegen/kernel/kernel_parameters.h"
#include "compiler/codegen/kernel/reciprocal.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

class Mapper {
public:
  Mapper(const KernelFunction &kernel, const abi::ParameterLayout &parameters, LLVM::LLVMFuncOp function, OpBuilder &b)
      : kernel_(kernel), parameters_(parameters), source_(kernel.function), function_(function), b_(b),
        loc_(function.getLoc()) {}

  KernelArguments run();

private:
  void mapScalar(BlockArgument original, Value value);
  void mapMembers(const KernelConstant &constant, Value bytes, uint32_t offset, uint32_t alignment);
  Value loadFrom(Type type, Value bytes, uint32_t offset, uint32_t alignment);
  Value sizeFrom(Value value);

  const KernelFunction &kernel_;
  const abi::ParameterLayout &parameters_;
  func::FuncOp source_;
  LLVM::LLVMFuncOp function_;
  OpBuilder &b_;
  Location loc_;
  KernelArguments result_;
};

/// Scalar arguments arrive as parameters, or as members of one that is passed by value; arithmetic of the function on
/// them is repeated in the kernel.
KernelArguments Mapper::run() {
  result_.pointers.resize(kernel_.bindings);
  for (const abi::Slot &slot : parameters_.slots) {
    const abi::Parameter &parameter = parameters_.parameters[slot.parameter];
    Value argument = function_.getArgument(slot.parameter);
    const bool isWhole = slot.kind == parameter.kind; // else it stands in a struct
    const uint32_t offset = parameters_.offsetIn(slot);
    if (slot.kind == abi::ParameterKind::Binding) {
      result_.pointers[slot.index] = isWhole ? argument
                                             : loadFrom(LLVM::LLVMPointerType::get(b_.getContext(), /*addressSpace=*/1),
                                                        argument, offset, parameter.alignment);
    } else if (slot.kind == abi::ParameterKind::Constant) {
      const KernelConstant &constant = kernel_.constants[slot.index];
      if (isa_and_nonnull<hal::TensorMapType>(constant.declared)) {
        if (isWhole)
          result_.tensorMaps.push_back(argument);
        continue;
      }
      if (constant.declared) {
        mapMembers(constant, argument, offset, parameter.alignment);
        continue;
      }
      BlockArgument original = source_.getArgument(constant.arguments.front());
      if (Attribute key = source_.getArgAttr(original.getArgNumber(), kReciprocalAttr))
        result_.reciprocals[key] = argument;
      mapScalar(original, isWhole ? argument
                                  : loadFrom(parameterType(original.getType()), argument, offset, parameter.alignment));
    }
  }
  for (Operation &inner : source_.front())
    if (dispatch::isScalarOp(&inner))
      copyScalarOp(b_, inner, result_.scalars);
  auto addSize = [&](const Extent &extent) {
    if (extent.value && !result_.sizes.contains(extent.value))
      result_.sizes[extent.value] = sizeFrom(result_.scalars.lookup(extent.value));
  };
  for (const KernelOp &op : kernel_.ops) {
    llvm::for_each(op.loops, addSize);
    for (const KernelOutput &output : op.outputs)
      if (output.isStored)
        result_.written.insert(output.tensor.binding);
  }
  for (uint32_t binding = 0; binding < kernel_.tensorArguments.size(); ++binding)
    if (kernel_.isWritten(binding))
      result_.written.insert(binding);
  for (const KernelTensor *tensor : kernel_.tensors())
    llvm::for_each(tensor->shape, addSize);
  for (auto &[argument, tensor] : kernel_.gathered)
    llvm::for_each(tensor.shape, addSize);
  return std::move(result_);
}

/// An i1 travels as a byte, an index as an i64.
void Mapper::mapScalar(BlockArgument original, Value value) {
  if (original.getType().isInteger(1))
    value = LLVM::ICmpOp::create(b_, loc_, LLVM::ICmpPredicate::ne, value,
                                 LLVM::ConstantOp::create(b_, loc_, b_.getI8Type(), b_.getI8IntegerAttr(0)));
  else if (original.getType().isIndex())
    value = UnrealizedConversionCastOp::create(b_, loc_, original.getType(), value).getResult(0);
  result_.scalars.map(original, value);
}

/// What stands in a struct by value. @param alignment the struct's: packed ones have their members anywhere
Value Mapper::loadFrom(Type type, Value bytes, uint32_t offset, uint32_t alignment) {
  Value from = LLVM::GEPOp::create(b_, loc_, bytes.getType(), b_.getI8Type(), bytes,
                                   ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(offset))});
  const uint64_t natural = llvm::MinAlign(alignment, offset);
  return LLVM::LoadOp::create(b_, loc_, type, from, unsigned(std::min<uint64_t>(natural, 8)));
}

/// Members of a constant that is a struct, each where a C struct has it; a tensor map has none.
void Mapper::mapMembers(const KernelConstant &constant, Value bytes, uint32_t offset, uint32_t alignment) {
  SmallVector<abi::ElementType> elements;
  for (uint32_t argument : constant.arguments)
    elements.push_back(*elementTypeOf(source_.getArgument(argument).getType()));
  const abi::StructLayout layout = abi::structMembers(elements);
  for (auto [argument, at] : llvm::zip_equal(constant.arguments, layout.offsets)) {
    BlockArgument original = source_.getArgument(argument);
    mapScalar(original, loadFrom(parameterType(original.getType()), bytes, offset + at, alignment));
  }
}

/// An integer as a size: i64. No size is negative, so one of 32 bits may take them all.
Value Mapper::sizeFrom(Value value) {
  if (value.getType().isIndex())
    return UnrealizedConversionCastOp::create(b_, loc_, b_.getI64Type(), value).getResult(0);
  return value.getType().isInteger(64) ? value : LLVM::ZExtOp::create(b_, loc_, b_.getI64Type(), value).getResult();
}

} // namespace

Value KernelArguments::sizeOf(OpBuilder &b, Location loc, const Extent &extent) const {
  if (extent.value)
    return sizes.lookup(extent.value);
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(extent.size));
}

KernelArguments mapArguments(const KernelFunction &kernel, const abi::ParameterLayout &parameters,
                             LLVM::LLVMFuncOp function, OpBuilder &b) {
  return Mapper(kernel, parameters, function, b).run();
}

static bool isLibraryCall(Operation &op) {
  return isa<math::MathDialect>(op.getDialect()) || isa<arith::RemFOp>(op);
}

void copyScalarOp(OpBuilder &b, Operation &inner, IRMapping &values) {
  auto expand = [](OpBuilder &at, affine::AffineApplyOp apply, ValueRange operands) {
    return affine::expandAffineMap(at, apply.getLoc(), apply.getAffineMap(), operands)->front();
  };
  if (auto apply = dyn_cast<affine::AffineApplyOp>(inner)) {
    SmallVector<Value> operands;
    for (Value operand : apply.getMapOperands())
      operands.push_back(values.lookup(operand));
    values.map(apply.getResult(), expand(b, apply, operands));
    return;
  }
  Operation *copy = b.clone(inner, values);
  copy->walk([&](Operation *op) { // itself, and of a loop what is inside
    if (isLibraryCall(*op))
      op->setLoc(NameLoc::get(b.getStringAttr(op->getName().getStringRef()), op->getLoc()));
    if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
      OpBuilder at(op);
      apply.replaceAllUsesWith(expand(at, apply, apply.getMapOperands()));
      apply.erase();
    }
  });
}

} // namespace tenon::compiler::codegen
