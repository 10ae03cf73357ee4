// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/result_ops.h"

#include "compiler/dispatch/analysis/computed_from.h"

using namespace mlir;

namespace tenon::compiler::codegen {

bool hasTwoResults(const GroupShape &shape) {
  linalg::GenericOp chained = shape.group.chained;
  return chained && chained->getNumResults() > 1;
}

bool isOfResult(const KernelFunction &kernel, const GroupShape &shape, const Product &product, const KernelOp &op) {
  const dispatch::Group &group = shape.group;
  if (!group.isPerRow(op.op))
    return false;
  if (!hasTwoResults(shape))
    return true;
  auto inside = [&](Operation *each) { return group.contains(each); };
  auto isOther = [&](const KernelOp &other) {
    linalg::GenericOp last = other.op;
    return &other != product.op && last.getNumReductionLoops() != 0 &&
           dispatch::isComputedFrom(last, group.chained, inside) && dispatch::isComputedFrom(op.op, last, inside);
  };
  return llvm::none_of(kernel.ops, isOther);
}

} // namespace tenon::compiler::codegen
