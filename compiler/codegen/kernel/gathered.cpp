// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/gathered.h"

#include "compiler/dispatch/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {

Type memoryType(Type element) {
  return element.isInteger(1) ? Type(IntegerType::get(element.getContext(), 8)) : element;
}

Value loadElement(KernelBuilder &k, const KernelArguments &arguments, const KernelTensor &tensor, Value element) {
  Type type = memoryType(tensor.element);
  Value value =
      k.load(type, k.at(arguments.pointers[tensor.binding], type, element), dispatch::elementBytes(tensor.element));
  if (type == tensor.element)
    return value;
  Value zero = arith::ConstantOp::create(k.b, k.loc, k.b.getI8IntegerAttr(0));
  return arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ne, value, zero);
}

Value loadGathered(KernelBuilder &k, const KernelArguments &arguments, const KernelTensor &tensor,
                   ArrayRef<Value> indices) {
  Value size = k.number(1), element = k.number(0), stride = k.number(1);
  bool isKnown = true;
  for (size_t dimension = tensor.shape.size(); dimension-- > 0;) {
    const Extent &extent = tensor.shape[dimension];
    Value length = arguments.sizeOf(k.b, k.loc, extent);
    isKnown &= !extent.value;
    size = k.mul(size, length);
    element = k.add(element, k.mul(indices[dimension], stride));
    stride = k.mul(stride, length);
  }
  if (isKnown)
    return loadElement(k, arguments, tensor, element);
  return k
      .choose(
          k.less(k.number(0), size), tensor.element,
          [&] { return SmallVector<Value>{loadElement(k, arguments, tensor, element)}; },
          [&] {
            TypedAttr zero = k.b.getZeroAttr(tensor.element);
            return SmallVector<Value>{arith::ConstantOp::create(k.b, k.loc, zero)};
          })
      .front();
}

} // namespace tenon::compiler::codegen
