// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/open_softmax.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

/// In the body of `generic`: `to` where the second operand of its `Op` is `from`.
template <typename Op> void guardSecondOperand(linalg::GenericOp generic, double from, double to) {
  for (auto op : llvm::to_vector(generic.getBody()->getOps<Op>())) {
    OpBuilder b(op);
    auto constant = [&](double value) -> Value {
      return arith::ConstantOp::create(b, op.getLoc(), b.getFloatAttr(op.getType(), value));
    };
    Value isBad = arith::CmpFOp::create(b, op.getLoc(), arith::CmpFPredicate::OEQ, op.getOperand(1), constant(from));
    op->setOperand(1, arith::SelectOp::create(b, op.getLoc(), isBad, constant(to), op.getOperand(1)));
  }
}

} // namespace

bool openSoftmax(linalg::SoftmaxOp softmax) {
  // MLIR's decomposition takes floats for granted; of integers there is no softmax.
  if (!softmax.hasPureTensorSemantics() || !isa<FloatType>(getElementTypeOrSelf(softmax.getInput().getType())))
    return false;
  IRRewriter rewriter(softmax);
  FailureOr<SmallVector<Value>> results = softmax.decomposeOperation(rewriter);
  if (failed(results))
    return false;
  if (softmax->hasAttr(kHiddenIsZero))
    if (auto division = results->front().getDefiningOp<linalg::GenericOp>()) {
      guardSecondOperand<arith::DivFOp>(division, 0, 1);
      for (Value input : division.getDpsInputs())
        if (auto powers = input.getDefiningOp<linalg::GenericOp>())
          guardSecondOperand<arith::SubFOp>(powers, -INFINITY, 0);
    }
  rewriter.replaceOp(softmax, *results);
  return true;
}

} // namespace tenon::compiler::dispatch
