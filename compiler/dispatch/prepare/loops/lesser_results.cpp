// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/lesser_results.h"

#include "compiler/dispatch/prepare/loops/unused_results.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

llvm::SmallBitVector loopsOf(AffineMap map) {
  llvm::SmallBitVector loops(map.getNumDims());
  for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
    if (map.isFunctionOfDim(loop))
      loops.set(loop);
  return loops;
}

/// What one yielded value is computed from.
struct Slice {
  llvm::SetVector<Operation *> operations; // of the body, in no order
  llvm::SmallBitVector arguments;          // of the body
  llvm::SmallBitVector loops;              // whose index is read
};

Slice sliceOf(linalg::GenericOp op, Value yielded) {
  Slice slice;
  slice.arguments.resize(op.getBody()->getNumArguments());
  slice.loops.resize(op.getNumLoops());
  SmallVector<Value> work = {yielded};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == op.getBody())
        slice.arguments.set(argument.getArgNumber());
      continue;
    }
    Operation *outer = op.getBody()->findAncestorOpInBlock(*value.getDefiningOp());
    if (!outer || !slice.operations.insert(outer))
      continue; // a value from outside of the operation, or one that was seen
    outer->walk([&](Operation *inner) {
      if (auto index = dyn_cast<linalg::IndexOp>(inner))
        slice.loops.set(index.getDim());
      llvm::append_range(work, inner->getOperands());
    });
  }
  return slice;
}

/// The maps with the loops that stay, in their order.
SmallVector<AffineMap> withLoops(ArrayRef<AffineMap> maps, const llvm::SmallBitVector &kept) {
  SmallVector<AffineMap> left;
  for (AffineMap map : maps) {
    SmallVector<AffineExpr> expressions(map.getNumDims(), getAffineConstantExpr(0, map.getContext()));
    unsigned next = 0;
    for (unsigned loop : kept.set_bits())
      expressions[loop] = getAffineDimExpr(next++, map.getContext());
    left.push_back(map.replaceDimsAndSymbols(expressions, {}, next, 0));
  }
  return left;
}

bool saySizes(ArrayRef<AffineMap> maps, MLIRContext *context) {
  return bool(inversePermutation(concatAffineMaps(maps, context)));
}

/// The result as an operation of its own. Null where the loops that it does not name matter.
Value computeAlone(linalg::GenericOp op, unsigned number) {
  OpOperand &init = op.getDpsInitsMutable()[number];
  const SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  const llvm::SmallBitVector named = loopsOf(maps[init.getOperandNumber()]);
  const Slice slice = sliceOf(op, op.getBody()->getTerminator()->getOperand(number));
  llvm::SmallBitVector kept = named;
  kept |= slice.loops;
  SmallVector<Value> inputs;
  SmallVector<AffineMap> left;
  SmallVector<unsigned> arguments;
  for (unsigned argument : slice.arguments.set_bits()) {
    if (argument >= op.getNumDpsInputs())
      return {}; // it reads what was written
    kept |= loopsOf(maps[argument]);
  }
  for (OpOperand *input : op.getDpsInputOperands())
    if (const unsigned argument = input->getOperandNumber(); !loopsOf(maps[argument]).test(kept)) {
      inputs.push_back(input->get());
      left.push_back(maps[argument]);
      arguments.push_back(argument);
    }
  const SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> leftTypes;
  const bool startsOpen = init.get().getDefiningOp<tensor::EmptyOp>() != nullptr;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    if (kept.test(loop)) {
      if (types[loop] == utils::IteratorType::parallel && !named.test(loop))
        return {};
      leftTypes.push_back(types[loop]);
    } else if (!startsOpen && (ShapedType::isDynamic(sizes[loop]) || sizes[loop] == 0)) {
      return {}; // without a step it is what it starts from
    }
  }
  left.push_back(maps[init.getOperandNumber()]);
  left = withLoops(left, kept);
  if (!saySizes(left, op.getContext()))
    return {};

  OpBuilder b(op);
  // One number everywhere, such as how many elements a window averages.
  if (slice.operations.empty() && slice.arguments.none() && left.back().isPermutation())
    return linalg::FillOp::create(b, op.getLoc(), op.getBody()->getTerminator()->getOperand(number), init.get())
        .getResult(0);
  auto alone = linalg::GenericOp::create(
      b, op.getLoc(), TypeRange{init.get().getType()}, inputs, ValueRange{init.get()}, left, leftTypes,
      [&](OpBuilder &inside, Location loc, ValueRange values) {
        IRMapping mapping;
        for (auto [argument, value] : llvm::zip(arguments, values))
          mapping.map(op.getBody()->getArgument(argument), value);
        for (Operation &inner : op.getBody()->without_terminator())
          if (slice.operations.contains(&inner))
            inside.clone(inner, mapping)->walk([&](linalg::IndexOp index) {
              unsigned before = 0;
              for (unsigned loop : kept.set_bits())
                before += loop < index.getDim();
              index.setDim(before);
            });
        linalg::YieldOp::create(inside, loc,
                                mapping.lookupOrDefault(op.getBody()->getTerminator()->getOperand(number)));
      });
  return alone->getResult(0);
}

void split(linalg::GenericOp op) {
  SmallVector<Value> known(op.getNumDpsInits());
  for (OpOperand &init : op.getDpsInitsMutable()) {
    const AffineMap map = op.getMatchingIndexingMap(&init);
    const llvm::SmallBitVector named = loopsOf(map);
    bool namesAll = true;
    for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
      namesAll &= type != utils::IteratorType::parallel || named.test(loop);
    if (namesAll || !map.isProjectedPermutation() || !op.getMatchingBlockArgument(&init).use_empty())
      continue;
    const unsigned number = init.getOperandNumber() - op.getNumDpsInputs();
    SmallVector<AffineMap> without;
    for (OpOperand &operand : op->getOpOperands())
      if (op.isDpsInput(&operand) || (&operand != &init && !known[operand.getOperandNumber() - op.getNumDpsInputs()]))
        without.push_back(op.getMatchingIndexingMap(&operand));
    const bool isLast = without.size() == size_t(op.getNumDpsInputs());
    if (isLast || saySizes(without, op.getContext()))
      known[number] = computeAlone(op, number);
  }
  llvm::SmallBitVector dropped(known.size());
  for (auto [number, value] : llvm::enumerate(known))
    dropped[number] = bool(value);
  if (dropped.any())
    (void)withoutResults(op, dropped, known);
}

} // namespace

void splitLesserResults(func::FuncOp function) {
  SmallVector<linalg::GenericOp> operations;
  function.walk([&](linalg::GenericOp op) {
    auto hasSymbols = [](AffineMap map) { return map.getNumSymbols() != 0; };
    if (op.hasPureTensorSemantics() && llvm::none_of(op.getIndexingMapsArray(), hasSymbols))
      operations.push_back(op);
  });
  for (linalg::GenericOp op : operations)
    split(op);
}

} // namespace tenon::compiler::dispatch
