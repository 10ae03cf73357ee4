// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/grouped/filter_operands.h"

#include "compiler/codegen/contraction/result_ops.h"

using namespace mlir;

namespace tenon::compiler::codegen {

std::optional<KernelTensor> readTensor(const KernelFunction &kernel, const KernelOp &op, Value tensor, AffineMap map) {
  for (const KernelInput &input : op.inputs)
    if (input.isMemory() &&
        linalg::GenericOp(op.op).getDpsInputOperand(input.bodyArgument.getArgNumber())->get() == tensor &&
        input.tensor.map == map)
      return input.tensor;
  const auto *found = kernel.gathered.find(tensor); // a body reads it by itself
  if (found == kernel.gathered.end())
    return std::nullopt;
  KernelTensor read = found->second;
  read.map = map;
  return read;
}

SmallVector<int64_t> stridesOf(const KernelTensor &tensor) {
  SmallVector<int64_t> strides(tensor.shape.size(), 1);
  for (size_t dimension = strides.size(); dimension-- > 1;)
    strides[dimension - 1] = strides[dimension] * tensor.shape[dimension].size;
  return strides;
}

SmallVector<Value> placeAlong(KernelBuilder &k, Value number, ArrayRef<int64_t> sides) {
  SmallVector<Value> place(sides.size());
  for (size_t i = sides.size(); i-- > 0;) {
    Value side = k.number(sides[i]);
    place[i] = i == 0 ? number : k.rem(number, side);
    number = k.div(number, side);
  }
  return place;
}

void SumStore::store(ArrayRef<Value> loops, Value sum) {
  Bodies::Scope scope(bodies);
  const SmallVector<unsigned> groupAxes = shape.group.axisOf.lookup(product.op->op);
  const SmallVector<int64_t> sizes = linalg::GenericOp(product.op->op).getStaticLoopRanges();
  Point point;
  for (const SpaceAxis &axis : shape.axes) { // of which some are several loops
    Value index = k.number(0);
    for (unsigned each : axis.axes) {
      const size_t loop = llvm::find(groupAxes, each) - groupAxes.begin();
      index = k.add(k.mul(index, k.number(sizes[loop])), loops[loop]);
    }
    point.index.push_back(index);
  }
  point.id = space.newId();
  bodies.setRow(product.sum, bodies.finish(product.sum, point, 0, sum));
  for (const KernelOp &op : kernel.ops)
    if (isOfResult(kernel, shape, product, op))
      bodies.storeRow(op, point);
}

} // namespace tenon::compiler::codegen
