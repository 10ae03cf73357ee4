// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/products/tile_factors.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

constexpr unsigned kMostDeep = 4; // operations before each other

/// Whether the input has an element for each place of the loops, or for some neighbours of the innermost one.
bool hasElementForEach(linalg::GenericOp op, AffineMap map) {
  const unsigned loops = op.getNumLoops();
  for (unsigned loop = 0; loop < loops; ++loop)
    if (!map.isFunctionOfDim(loop))
      return false;
  return true;
}

bool isByte(Type type) {
  return type.isInteger(8);
}

bool isOfFewBits(linalg::GenericOp op, OpOperand *input, unsigned deep);

/// Of the elements that an operation has for each place, all are bytes or computed from bytes; and there are some.
bool isComputedFromBytes(linalg::GenericOp op, ArrayRef<OpOperand *> inputs, unsigned deep) {
  bool any = false;
  for (OpOperand *input : inputs) {
    if (!isa<RankedTensorType>(input->get().getType()) || !hasElementForEach(op, op.getMatchingIndexingMap(input)))
      continue;
    if (!isOfFewBits(op, input, deep))
      return false;
    any = true;
  }
  return any;
}

bool isOfFewBits(linalg::GenericOp, OpOperand *input, unsigned deep) {
  auto producer = input->get().getDefiningOp<linalg::GenericOp>();
  if (producer && deep < kMostDeep && producer.getNumReductionLoops() == 0 && producer->getNumResults() == 1 &&
      producer.getBody()->getOps<tensor::ExtractOp>().empty())
    if (isComputedFromBytes(producer, producer.getDpsInputOperands(), deep + 1))
      return true;
  return isByte(getElementTypeOrSelf(input->get().getType()));
}

} // namespace

bool mayTilesCompute(const Contraction &product) {
  linalg::GenericOp op = product.op;
  auto module = op->getParentOfType<ModuleOp>();
  auto hasAttr = [](Operation *each) { return each && each->hasAttr(kHopperOnlyAttr); };
  if ((!hasAttr(module) && !hasAttr(op->getParentOfType<func::FuncOp>())) || readsWindows(op) ||
      product.reduced.empty() || product.rows.empty() || product.columns.empty())
    return false;
  Type left = factorTypeOf(product.left.value), right = factorTypeOf(product.right.value);
  const int64_t innermost = op.getStaticLoopRanges()[product.reduced.back()];
  const std::optional<int64_t> rows = knownSizeOf(op, product.rows), columns = knownSizeOf(op, product.columns);
  if (rows && columns && std::min(*rows, *columns) > kMostRowsOfTiles)
    return false;
  return left == right && isa<Float16Type, BFloat16Type>(left) && !ShapedType::isDynamic(innermost) &&
         innermost % kStepOfTiles == 0 && innermost != 0;
}

bool isWeightOfFewBits(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() && op.getNumReductionLoops() == 0 && op->getNumResults() == 1 &&
         op.getBody()->getOps<tensor::ExtractOp>().empty() && isComputedFromBytes(op, op.getDpsInputOperands(), 0);
}

bool isOfFewBits(const Contraction &product, const ContractionSide &side) {
  linalg::GenericOp op = product.op;
  bool any = false;
  unsigned most = 0;
  for (unsigned number : side.inputs)
    most = std::max(most, unsigned(op.getMatchingIndexingMap(op.getDpsInputOperand(number)).getNumResults()));
  for (unsigned number : side.inputs) {
    OpOperand *input = op.getDpsInputOperand(number);
    if (op.getMatchingIndexingMap(input).getNumResults() < most)
      continue; // a scale
    if (!isOfFewBits(op, input, 0))
      return false;
    any = true;
  }
  return any && !isa<IntegerType>(factorTypeOf(side.value));
}

} // namespace tenon::compiler::dispatch
