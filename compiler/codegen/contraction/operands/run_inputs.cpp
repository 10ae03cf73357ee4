// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/operands/run_inputs.h"

#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

/// Elements of an input that a run of `width` reads, side by side; 1: one for all. Nothing where they lie apart.
std::optional<uint32_t> countOf(const OperandInput &each, const GroupShape &shape, unsigned axis, uint32_t width) {
  const KernelTensor &tensor = each.input->tensor;
  if (const std::optional<int64_t> shared = shape.sharedBy(tensor, each.op->op, axis)) {
    if (width % *shared == 0)
      return width / uint32_t(*shared);
    return *shared % width == 0 ? std::optional(1u) : std::nullopt;
  }
  switch (shape.along(tensor, each.op->op, axis)) {
  case GroupShape::Along::Adjacent:
    return width;
  case GroupShape::Along::Same:
    return 1;
  default:
    return std::nullopt;
  }
}

/// Several elements as words, so that they stay in as few registers.
Type carriedType(KernelBuilder &k, Type element, uint32_t count) {
  const uint32_t bytes = count * dispatch::elementBytes(element);
  if (count == 1)
    return element;
  return bytes % 4 == 0 ? Type(VectorType::get(bytes / 4, k.b.getI32Type())) : Type(VectorType::get(count, element));
}

} // namespace

bool RunInputs::fit(const GroupShape &shape, const Operand &operand, uint32_t width) {
  return llvm::all_of(operand.inputs, [&](const OperandInput &each) {
    return countOf(each, shape, operand.vectorAxis, width) && !each.input->tensor.element.isInteger(1);
  });
}

uint32_t RunInputs::bytesOf(const OperandInput &input, const GroupShape &shape, unsigned axis, uint32_t width) {
  return countOf(input, shape, axis, width).value_or(0) * dispatch::elementBytes(input.input->tensor.element);
}

uint32_t RunInputs::bytes(size_t input) const {
  return bytesOf(operand_.inputs[input], kernel_.shape, operand_.vectorAxis, width_);
}

Type RunInputs::type(size_t input) const {
  const Type element = operand_.inputs[input].input->tensor.element;
  return carriedType(kernel_.k, element, bytes(input) / dispatch::elementBytes(element));
}

Value RunInputs::address(size_t input, const TileSpace::Begun &run) const {
  const OperandInput &each = operand_.inputs[input];
  return kernel_.bodies.address(*each.op, each.input->tensor, run.point);
}

SmallVector<Value> RunInputs::load(const TileSpace::Begun &run) {
  SmallVector<Value> loaded;
  for (size_t input = 0; input < count(); ++input)
    loaded.push_back(kernel_.k.load(type(input), address(input, run), bytes(input)));
  return loaded;
}

void RunInputs::stage(ValueRange loaded) {
  KernelBuilder &k = kernel_.k;
  for (auto [each, value] : llvm::zip_equal(operand_.inputs, loaded)) {
    const uint32_t count = *countOf(each, kernel_.shape, operand_.vectorAxis, width_);
    SmallVector<Value> lanes(width_, value);
    if (count != 1) {
      auto type = VectorType::get(count, each.input->tensor.element);
      Value all = value.getType() == type ? value : LLVM::BitcastOp::create(k.b, k.loc, type, value).getResult();
      for (uint32_t lane = 0; lane < width_; ++lane)
        lanes[lane] = LLVM::ExtractElementOp::create(k.b, k.loc, all, k.number(lane / (width_ / count)));
    }
    kernel_.bodies.stage(*each.op, each.input->tensor, [lanes](const Point &) { return lanes; });
  }
}

} // namespace tenon::compiler::codegen
