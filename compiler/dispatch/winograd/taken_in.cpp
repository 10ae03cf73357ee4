// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/winograd/taken_in.h"

#include "compiler/dialect/linalg_ext/LinalgExtOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// A thread has all results of a tile in registers, and reads as many elements of each of these.
constexpr unsigned kMostInputs = 4, kMostOperations = 16;

/// The one operation that reads the value, as a generic one; null where it is none, or there are several.
linalg::GenericOp readerOf(Value value) {
  if (!value.hasOneUse())
    return {};
  auto op = dyn_cast<linalg::LinalgOp>(*value.user_begin());
  if (!op || op->getBlock() != value.getDefiningOp()->getBlock() || !op.hasPureTensorSemantics() ||
      op.getNumReductionLoops() != 0 || op.getNumLoops() != 4 || op->getNumResults() != 1 || op.getNumDpsInputs() == 0)
    return {};
  if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation()))
    return generic;
  if (!linalg::isElementwise(op))
    return {};
  IRRewriter rewriter(op->getContext());
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
  return succeeded(made) ? *made : linalg::GenericOp();
}

bool isF32Tensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getElementType().isF32();
}

/// Each result is a loop, or 0.
bool isPlain(AffineMap map) {
  return llvm::all_of(map.getResults(), [](AffineExpr expr) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    return isa<AffineDimExpr>(expr) || (constant && constant.getValue() == 0);
  });
}

/// Whether the reader computes one f32 from each element of `value` and others that lie as its place says.
bool canTakeIn(linalg::GenericOp reader, Value value) {
  const AffineMap written = reader.getIndexingMapsArray().back();
  if (!written.isPermutation() || reader.getResult(0).getType() != value.getType() ||
      !reader.getMatchingBlockArgument(reader.getDpsInitOperand(0)).use_empty())
    return false;
  unsigned reads = 0;
  for (OpOperand *input : reader.getDpsInputOperands()) {
    const AffineMap map = reader.getMatchingIndexingMap(input);
    if (input->get() == value) {
      reads += map == written ? 1 : 2;
      continue;
    }
    if (!isF32Tensor(input->get()) || !isPlain(map))
      return false;
  }
  if (reads != 1 || llvm::range_size(*reader.getBody()) > kMostOperations)
    return false;
  return llvm::all_of(reader.getBody()->without_terminator(), [](Operation &inner) {
    return inner.getNumRegions() == 0 && isMemoryEffectFree(&inner) &&
           !isa<linalg::IndexOp, tensor::ExtractOp>(inner) &&
           llvm::none_of(inner.getOperandTypes(), llvm::IsaPred<TensorType>);
  });
}

/// The operation with the reader's body behind its own.
linalg_ext::TileTransformOp joined(linalg_ext::TileTransformOp op, linalg::GenericOp reader) {
  OpBuilder b(reader);
  SmallVector<Value> inputs(op.getInputs());
  SmallVector<Attribute> maps(op.getMaps().getValue());
  // From loops of the reader to dimensions of the image.
  const AffineMap written = reader.getIndexingMapsArray().back(), back = inversePermutation(written);
  for (OpOperand *input : reader.getDpsInputOperands())
    if (input->get() != op.getResult()) {
      inputs.push_back(input->get());
      maps.push_back(AffineMapAttr::get(reader.getMatchingIndexingMap(input).compose(back)));
    }
  auto made = linalg_ext::TileTransformOp::create(b, op.getLoc(), op.getResult().getType(), inputs, op.getOutput(),
                                                  op.getMatrix(), op.getRows(), op.getOrder(), op.getTiles(),
                                                  op.getLow(), op.getStep(), op.getTurned(), b.getArrayAttr(maps));
  Block *body = b.createBlock(&made.getRegion());
  for (size_t i = 0; i < inputs.size(); ++i)
    body->addArgument(b.getF32Type(), op.getLoc());
  Value sum = body->getArgument(0);
  unsigned next = 1;
  if (!op.getRegion().empty()) {
    Block &before = op.getRegion().front();
    IRMapping values;
    for (BlockArgument argument : before.getArguments())
      values.map(argument, body->getArgument(argument.getArgNumber()));
    for (Operation &inner : before.without_terminator())
      b.clone(inner, values);
    sum = values.lookupOrDefault(before.getTerminator()->getOperand(0));
    next = before.getNumArguments();
  }
  IRMapping values;
  for (OpOperand *input : reader.getDpsInputOperands())
    values.map(reader.getMatchingBlockArgument(input),
               input->get() == op.getResult() ? sum : Value(body->getArgument(next++)));
  for (Operation &inner : reader.getBody()->without_terminator())
    b.clone(inner, values);
  linalg_ext::YieldOp::create(b, op.getLoc(), values.lookupOrDefault(reader.getBody()->getTerminator()->getOperand(0)));
  reader.getResult(0).replaceAllUsesWith(made.getResult());
  reader.erase();
  op.erase();
  return made;
}

void takeInBehind(linalg_ext::TileTransformOp op) {
  while (linalg::GenericOp reader = readerOf(op.getResult())) {
    const unsigned others = reader.getNumDpsInputs() - 1;
    if (!canTakeIn(reader, op.getResult()) || op.getInputs().size() - 1 + others > kMostInputs)
      return;
    op = joined(op, reader);
  }
}

} // namespace

void takeInBehind(func::FuncOp function) {
  SmallVector<linalg_ext::TileTransformOp> images;
  function.walk([&](linalg_ext::TileTransformOp op) {
    if (!op.makesPlanes())
      images.push_back(op);
  });
  for (linalg_ext::TileTransformOp image : images)
    takeInBehind(image);
}

} // namespace tenon::compiler::dispatch
