// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When a kernel may take the road of aligned vectors: whether what Bodies read and store begins at multiples of one.
#include "compiler/codegen/kernel/bodies/bodies.h"

#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::codegen {

Value Bodies::isAligned(const KernelTensor &tensor, int64_t bytes) {
  Value base = LLVM::PtrToIntOp::create(k_.b, k_.loc, k_.b.getI64Type(), arguments_.pointers[tensor.binding]);
  Value rest = arith::AndIOp::create(k_.b, k_.loc, base, k_.number(bytes - 1));
  return k_.equal(rest, k_.number(0));
}

Value Bodies::areBasesAligned(unsigned width) {
  Value aligned = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(true));
  if (width == 1)
    return aligned;
  for (auto [number, axis] : llvm::enumerate(space_.shape().axes))
    for (unsigned prefix : axis.prefixes)
      if (number == space_.vectorAxis && !knownProduct(axis.behind(prefix)))
        aligned = k_.both(aligned, k_.less(k_.number(width - 1), space_.sizeBehind(number, prefix)));
  llvm::SmallDenseSet<uint32_t> seen;
  auto ask = [&](const KernelOp &op, const KernelTensor &tensor) {
    if (!isShared(op) && space_.shape().along(tensor, op.op, space_.vectorAxis) == GroupShape::Along::Adjacent &&
        seen.insert(tensor.binding).second)
      aligned = k_.both(aligned, isAligned(tensor, int64_t(width) * dispatch::elementBytes(tensor.element)));
  };
  for (const KernelOp &op : kernel_.ops) {
    for (const KernelInput &input : op.inputs)
      if (input.isMemory())
        ask(op, input.tensor);
    for (const KernelOutput &output : op.outputs) {
      if (output.startTensor)
        ask(op, *output.startTensor);
      if (output.isStored)
        ask(op, output.tensor);
    }
    for (auto extract : linalg::GenericOp(op.op).getBody()->getOps<tensor::ExtractOp>())
      if (readsWholeVectors(kernel_, space_, op.op, extract, width)) {
        const KernelTensor &tensor = kernel_.gathered.find(extract.getTensor())->second;
        if (seen.insert(tensor.binding).second)
          aligned = k_.both(aligned, isAligned(tensor, int64_t(width) * dispatch::elementBytes(tensor.element)));
      }
  }
  return aligned;
}

Value Bodies::areWholeParts(unsigned width) {
  Value all;
  const unsigned axis = space_.vectorAxis;
  for (unsigned prefix : space_.shape().axes[axis].prefixes) {
    if (const std::optional<int64_t> known = knownProduct(space_.shape().axes[axis].behind(prefix))) {
      if (*known % width != 0)
        return {};
      continue;
    }
    Value isWhole = k_.equal(k_.rem(space_.sizeBehind(axis, prefix), k_.number(width)), k_.number(0));
    all = all ? k_.both(all, isWhole) : isWhole;
  }
  return all;
}

Value Bodies::isAligned(unsigned width, bool needsWhole) {
  Value aligned = areBasesAligned(width);
  if (width == 1 || (!needsWhole && space_.shape().axes.size() < 2))
    return aligned;
  Value rest = k_.rem(space_.size(space_.vectorAxis), k_.number(width));
  return k_.both(aligned, k_.equal(rest, k_.number(0)));
}

} // namespace tenon::compiler::codegen
