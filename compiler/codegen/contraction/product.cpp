// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/product.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

/// The value without what makes an f16 or a bf16 an f32: products of those are exact there.
Value withoutExtension(Value value) {
  auto extension = value.getDefiningOp<arith::ExtFOp>();
  return extension ? extension.getIn() : value;
}

Operand operandOf(const KernelOp &op, const dispatch::ContractionSide &side, ArrayRef<unsigned> across,
                  ArrayRef<unsigned> reduced, const GroupShape &shape) {
  Operand operand;
  operand.value = withoutExtension(side.value);
  operand.across = llvm::to_vector(across);
  for (unsigned input : side.inputs)
    if (op.inputs[input].isMemory())
      operand.inputs.push_back(&op.inputs[input]);
  const unsigned alongReduced = reduced.back(), alongAcross = across.empty() ? alongReduced : across.back();
  operand.vectorAxis = alongReduced;
  for (const KernelInput *input : operand.inputs)
    if (alongAcross != alongReduced && shape.along(input->tensor, op.op, alongAcross) == GroupShape::Along::Adjacent)
      operand.vectorAxis = alongAcross;
  operand.isAlongReduced = operand.vectorAxis == alongReduced;
  if (auto argument = dyn_cast<BlockArgument>(operand.value))
    if (const KernelInput &input = op.inputs[argument.getArgNumber()];
        input.isMemory() && shape.along(input.tensor, op.op, operand.vectorAxis) == GroupShape::Along::Adjacent)
      operand.plain = &input;
  return operand;
}

} // namespace

std::optional<Product> Product::of(const KernelFunction &kernel, const GroupShape &shape) {
  for (const KernelOp &op : kernel.ops) {
    const std::optional<dispatch::Contraction> form = dispatch::contractionOf(op.op);
    if (!form)
      continue;
    Product product;
    product.op = &op;
    product.sum = phasesOf(kernel, shape.group).front().front();
    const SmallVector<unsigned> groupAxes = shape.group.axisOf.lookup(op.op);
    auto axesOf = [&](ArrayRef<unsigned> loops) {
      SmallVector<unsigned> axes;
      for (auto [number, axis] : llvm::enumerate(shape.axes))
        if (llvm::any_of(loops, [&](unsigned loop) { return groupAxes[loop] == axis.axes.front(); }))
          axes.push_back(number);
      return axes;
    };
    product.batch = axesOf(form->batch);
    product.rows = axesOf(form->rows);
    product.columns = axesOf(form->columns);
    product.reduced = axesOf(form->reduced);
    product.left = operandOf(op, form->left, product.rows, product.reduced, shape);
    product.right = operandOf(op, form->right, product.columns, product.reduced, shape);
    return product;
  }
  return std::nullopt;
}

Type Product::tensorCoreElement() const {
  Type element = left.value.getType();
  const bool fits = element == right.value.getType() && isa<Float16Type, BFloat16Type>(element) && sum.sum.type.isF32();
  return fits ? element : Type();
}

} // namespace tenon::compiler::codegen
