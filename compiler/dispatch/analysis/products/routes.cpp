// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/products/routes.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// Inputs of the operation that a value of its body is computed from; false where it takes more than arithmetic.
bool collectInputs(Value value, linalg::GenericOp op, llvm::SmallSetVector<unsigned, 2> &inputs) {
  if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == op.getBody()) {
    if (argument.getArgNumber() >= op.getNumDpsInputs())
      return false;
    inputs.insert(argument.getArgNumber());
    return true;
  }
  Operation *defining = value.getDefiningOp();
  if (!defining || defining->getBlock() != op.getBody())
    return matchPattern(value, m_Constant());
  if (!isPure(defining) || defining->getNumRegions() != 0 || isa<linalg::IndexOp, tensor::ExtractOp>(defining))
    return false;
  return llvm::all_of(defining->getOperands(), [&](Value operand) { return collectInputs(operand, op, inputs); });
}

} // namespace

std::optional<RoutedWeights> routedWeightsOf(Value value, linalg::GenericOp op) {
  auto read = value.getDefiningOp<tensor::ExtractOp>();
  if (!read || read->getBlock() != op.getBody())
    return std::nullopt;
  auto type = cast<RankedTensorType>(read.getTensor().getType());
  if (read.getTensor().getParentBlock() == op.getBody() || !type.hasStaticShape() || type.getRank() < 2)
    return std::nullopt;
  RoutedWeights found;
  found.tensor = read.getTensor();
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  llvm::SmallDenseSet<unsigned> loops;
  SmallVector<AffineExpr> place;
  MLIRContext *context = op.getContext();
  for (auto [dimension, index] : llvm::enumerate(read.getIndices())) {
    if (auto loop = index.getDefiningOp<linalg::IndexOp>()) {
      const auto number = unsigned(loop.getDim());
      if (!loops.insert(number).second || sizes[number] != type.getDimSize(dimension))
        return std::nullopt;
      place.push_back(getAffineDimExpr(number, context));
      continue;
    }
    if (found.expert)
      return std::nullopt;
    found.expert = index;
    found.dimension = dimension;
    found.experts = type.getDimSize(dimension);
    place.push_back(getAffineConstantExpr(0, context));
  }
  llvm::SmallSetVector<unsigned, 2> inputs;
  if (!found.expert || found.experts < 1 || !collectInputs(found.expert, op, inputs) || inputs.empty())
    return std::nullopt;
  for (unsigned input : inputs) {
    OpOperand *operand = op.getDpsInputOperand(input);
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (!isa<RankedTensorType>(operand->get().getType()) || !map.isProjectedPermutation())
      return std::nullopt;
    for (AffineExpr expr : map.getResults()) {
      const unsigned loop = cast<AffineDimExpr>(expr).getPosition();
      if (loops.contains(loop) || types[loop] != utils::IteratorType::parallel)
        return std::nullopt;
    }
  }
  found.inputs.assign(inputs.begin(), inputs.end());
  found.map = AffineMap::get(op.getNumLoops(), 0, place, context);
  return found;
}

int64_t routeLines(int64_t rows, int64_t experts) {
  int64_t lines = 1 + rows / kRouteLine + 1;
  for (int64_t side : kRoutedTiles)
    lines += rows / side + experts;
  return lines;
}

} // namespace tenon::compiler::dispatch
