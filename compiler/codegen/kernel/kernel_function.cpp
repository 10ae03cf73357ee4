// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/kernel_function.h"

#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {

Location KernelFunction::loc() const {
  return along.op ? along.op->getLoc() : linalg::GenericOp(only().op).getLoc();
}

SmallVector<const KernelTensor *> KernelFunction::tensors() const {
  SmallVector<const KernelTensor *> all;
  for (const KernelAlongInput &input : along.inputs)
    all.push_back(&input);
  for (const KernelAlongOutput &output : along.outputs) {
    if (output.startTensor)
      all.push_back(&*output.startTensor);
    all.push_back(&output.tensor);
  }
  for (const KernelOp &op : ops) {
    for (const KernelInput &input : op.inputs)
      if (input.isMemory())
        all.push_back(&input.tensor);
    for (const KernelOutput &output : op.outputs) {
      if (output.startTensor)
        all.push_back(&*output.startTensor);
      if (output.isStored)
        all.push_back(&output.tensor);
    }
  }
  return all;
}

static bool isOverwritten(func::FuncOp function, uint32_t argument) {
  return bool(function.getArgAttr(argument, dispatch::kOverwrittenAttr));
}

bool KernelFunction::overwrites() const {
  return llvm::any_of(tensorArguments, [&](uint32_t argument) { return isOverwritten(function, argument); });
}

bool KernelFunction::isWritten(uint32_t binding) const {
  if (binding < tensorArguments.size() && isOverwritten(function, tensorArguments[binding]))
    return true;
  for (const KernelAlongOutput &output : along.outputs)
    if (output.isStored && output.tensor.binding == binding)
      return true;
  for (const KernelTensor &tensor : scratch)
    if (tensor.binding == binding)
      return true;
  return llvm::any_of(ops, [&](const KernelOp &op) {
    return llvm::any_of(
        op.outputs, [&](const KernelOutput &output) { return output.isStored && output.tensor.binding == binding; });
  });
}

} // namespace tenon::compiler::codegen
