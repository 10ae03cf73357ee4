// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dialect/size_origin.h"

#include "compiler/dialect/flow/FlowOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler {

SizeOrigin sizeOriginOf(Value index) {
  APInt number;
  if (matchPattern(index, m_ConstantInt(&number)) && number.getSignificantBits() <= 64)
    return {number.getSExtValue(), {}, -1};
  if (auto dim = index.getDefiningOp<tensor::DimOp>())
    if (std::optional<int64_t> dimension = dim.getConstantIndex();
        dimension && isa<RankedTensorType>(dim.getSource().getType()))
      return sizeOriginOf(dim.getSource(), *dimension);
  return {{}, index, -1};
}

SizeOrigin sizeOriginOf(Value tensor, int64_t dimension) {
  while (true) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (!type.isDynamicDim(dimension))
      return {type.getDimSize(dimension), {}, -1};
    const unsigned unknown = type.getDynamicDimIndex(unsigned(dimension));
    if (auto op = tensor.getDefiningOp<linalg::LinalgOp>())
      tensor = op.getDpsInitOperand(cast<OpResult>(tensor).getResultNumber())->get();
    else if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
      return sizeOriginOf(empty.getDynamicSizes()[unknown]);
    else if (auto expand = tensor.getDefiningOp<tensor::ExpandShapeOp>())
      return sizeOriginOf(expand.getOutputShape()[unknown]);
    else if (auto reshape = tensor.getDefiningOp<flow::TensorReshapeOp>())
      return sizeOriginOf(reshape.getResultDims()[unknown]);
    else if (auto collapse = tensor.getDefiningOp<tensor::CollapseShapeOp>();
             collapse && collapse.getReassociationIndices()[dimension].size() == 1) {
      dimension = collapse.getReassociationIndices()[dimension].front();
      tensor = collapse.getSrc();
    } else {
      return {{}, tensor, dimension};
    }
  }
}

} // namespace tenon::compiler
