// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// scf.forall on tensors: its threads may run in any order, so they run one behind the other, as a nest of scf.for that
// carries the shared results. A thread reads them as they were before the first, and what it inserts goes to those that
// are carried.
#include "compiler/input/steps/steps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

LogicalResult checkInsertions(scf::ForallOp op) {
  for (Operation &insertion : op.getTerminator().getYieldingOps())
    if (!isa<tensor::ParallelInsertSliceOp>(insertion))
      return insertion.emitOpError() << "is not supported: tensor.parallel_insert_slice is what threads of scf.forall "
                                        "end with";
  return success();
}

/// One thread: what it computes, in `inside`, and what its insertions make of `carried`.
SmallVector<Value> cloneThread(OpBuilder &b, scf::ForallOp op, ValueRange indices, ValueRange carried) {
  IRMapping mapping;
  mapping.map(op.getInductionVars(), indices);
  mapping.map(op.getRegionIterArgs(), op.getOutputs());
  for (Operation &inside : op.getBody()->without_terminator())
    b.clone(inside, mapping);
  SmallVector<Value> results(carried);
  for (Operation &each : op.getTerminator().getYieldingOps()) {
    auto insertion = cast<tensor::ParallelInsertSliceOp>(each);
    const unsigned number = cast<BlockArgument>(insertion.getDest()).getArgNumber() - op.getRank();
    auto mapped = [&](SmallVector<OpFoldResult> values) {
      for (OpFoldResult &value : values)
        if (auto dynamic = dyn_cast<Value>(value))
          value = mapping.lookupOrDefault(dynamic);
      return values;
    };
    results[number] = tensor::InsertSliceOp::create(
        b, insertion.getLoc(), mapping.lookupOrDefault(insertion.getSource()), results[number],
        mapped(insertion.getMixedOffsets()), mapped(insertion.getMixedSizes()), mapped(insertion.getMixedStrides()));
  }
  return results;
}

/// The loops from `dimension` on.
SmallVector<Value> makeLoops(OpBuilder &b, scf::ForallOp op, SmallVector<Value> &indices, ValueRange carried) {
  const size_t dimension = indices.size();
  if (dimension == size_t(op.getRank()))
    return cloneThread(b, op, indices, carried);
  const Location loc = op.getLoc();
  auto valueOf = [&](ArrayRef<OpFoldResult> bounds) {
    return getValueOrCreateConstantIndexOp(b, loc, bounds[dimension]);
  };
  Value from = valueOf(op.getMixedLowerBound()), to = valueOf(op.getMixedUpperBound()), by = valueOf(op.getMixedStep());
  auto loop = scf::ForOp::create(b, loc, from, to, by, carried,
                                 [&](OpBuilder &inside, Location, Value index, ValueRange arguments) {
                                   indices.push_back(index);
                                   scf::YieldOp::create(inside, loc, makeLoops(inside, op, indices, arguments));
                                   indices.pop_back();
                                 });
  return llvm::to_vector(ValueRange(loop.getResults()));
}

} // namespace

LogicalResult readForalls(ModuleOp module) {
  SmallVector<scf::ForallOp> loops; // the inner ones first
  module.walk([&](scf::ForallOp op) { loops.push_back(op); });
  bool ok = true;
  for (scf::ForallOp op : loops) {
    if (failed(checkInsertions(op))) {
      ok = false;
      continue;
    }
    OpBuilder builder(op);
    SmallVector<Value> indices;
    op.replaceAllUsesWith(makeLoops(builder, op, indices, op.getOutputs()));
    op.erase();
  }
  return success(ok);
}

} // namespace tenon::compiler::input
