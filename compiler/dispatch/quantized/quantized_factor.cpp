// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/quantized/quantized_factor.h"

#include "compiler/dispatch/analysis/products/contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

AffineMap QuantizedFactor::map() const {
  return cast<linalg::GenericOp>(operand->getOwner()).getMatchingIndexingMap(operand);
}

RankedTensorType QuantizedFactor::type() const {
  return cast<RankedTensorType>(operand->get().getType());
}

bool QuantizedFactor::hasZero() const {
  return zero && getConstantIntValue(zero) != 0;
}

/// The value outside of the body that one inside is: a scalar operand's, or its own.
Value outquantizedFactorOf(Value value, linalg::GenericOp op) {
  if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == op.getBody()) {
    Value operand = op->getOperand(argument.getArgNumber());
    return operand.getType() == value.getType() ? operand : Value();
  }
  Operation *defining = value.getDefiningOp();
  if (!defining || defining->getBlock() != op.getBody())
    return value;
  const std::optional<int64_t> number = getConstantIntValue(value);
  if (!number)
    return {};
  OpBuilder b(op);
  return b.clone(*defining)->getResult(0);
}

std::optional<QuantizedFactor> quantizedFactorOf(Value value, linalg::GenericOp op) {
  QuantizedFactor factor;
  Value wide = value;
  if (auto less = value.getDefiningOp<arith::SubIOp>()) {
    wide = less.getLhs();
    if (!(factor.zero = outquantizedFactorOf(less.getRhs(), op)))
      return std::nullopt;
  }
  factor.extension = wide.getDefiningOp();
  auto argument = dyn_cast<BlockArgument>(beforeExtension(wide));
  if (!factor.extension || !isa<arith::ExtSIOp, arith::ExtUIOp>(factor.extension) || !argument ||
      argument.getOwner() != op.getBody() || int64_t(argument.getArgNumber()) >= op.getNumDpsInputs())
    return std::nullopt;
  factor.operand = op.getDpsInputOperand(argument.getArgNumber());
  return isa<RankedTensorType>(factor.operand->get().getType()) ? std::optional(factor) : std::nullopt;
}

} // namespace tenon::compiler::dispatch
