// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/unit_sums.h"

#include "compiler/dispatch/analysis/group.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// Empty where nothing is left to sum over without them.
SmallVector<unsigned> unitSumsOf(linalg::GenericOp op) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<unsigned> reduced, units;
  op.getReductionDims(reduced);
  llvm::copy_if(reduced, std::back_inserter(units), [&](unsigned loop) { return sizes[loop] == 1; });
  return units.size() < reduced.size() ? units : SmallVector<unsigned>();
}

} // namespace

void dropUnitSums(func::FuncOp function) {
  SmallVector<linalg::GenericOp> found;
  function.walk([&](linalg::GenericOp op) {
    if (op.hasPureTensorSemantics() && !op.hasIndexSemantics() && !isOfAttention(op) && !unitSumsOf(op).empty())
      found.push_back(op);
  });
  IRRewriter rewriter(function.getContext());
  for (linalg::GenericOp op : found) {
    linalg::ControlDropUnitDims control;
    control.controlFn = [&](Operation *) { return unitSumsOf(op); };
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::DropUnitDimsResult> dropped = linalg::dropUnitDims(rewriter, op, control);
    if (succeeded(dropped))
      rewriter.replaceOp(op, dropped->replacements);
  }
}

} // namespace tenon::compiler::dispatch
