// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/host_operations.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

bool isScalar(Type type) {
  return type.isIntOrIndexOrFloat();
}

/// Arithmetic on values that the host has.
bool isScalarArithmetic(Operation *op) {
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
         llvm::all_of(op->getOperandTypes(), isScalar) && llvm::all_of(op->getResultTypes(), isScalar);
}

/// Runs in the program's registers: integers, and of floats what every machine computes alike.
bool isHostArithmetic(Operation *op) {
  if (!isScalarArithmetic(op))
    return false;
  if (isa<math::MathDialect>(op->getDialect()))
    return isa<math::SqrtOp, math::AbsFOp, math::FloorOp, math::CeilOp, math::TruncOp, math::RoundOp, math::RoundEvenOp,
               math::CopySignOp, math::AbsIOp>(op);
  return true;
}

bool isHostOperation(Operation *op) {
  const StringRef dialect = op->getName().getDialectNamespace();
  if (dialect == "flow" || dialect == "hal" || dialect == "util" || dialect == "check")
    return true;
  return isa<arith::ConstantOp, affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp, tensor::DimOp,
             tensor::EmptyOp, tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractOp,
             func::ReturnOp, func::CallOp, cf::BranchOp, cf::CondBranchOp, cf::SwitchOp, cf::AssertOp>(op) ||
         isHostArithmetic(op);
}

} // namespace

void moveScalarsToKernels(func::FuncOp function) {
  SmallVector<Operation *> found;
  for (Block &block : function.getBody())
    for (Operation &op : block)
      if (isScalarArithmetic(&op) && op.getNumResults() == 1 && !isHostArithmetic(&op))
        found.push_back(&op);
  for (Operation *op : found) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    // The scalars that it reads are arguments of the kernel.
    Value empty = tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>(), op->getResult(0).getType());
    auto kernel = linalg::GenericOp::create(
        builder, loc, empty.getType(), ValueRange(), empty, AffineMap::getMultiDimIdentityMap(0, op->getContext()),
        ArrayRef<utils::IteratorType>(), [&](OpBuilder &body, Location, ValueRange) {
          linalg::YieldOp::create(body, loc, body.clone(*op)->getResult(0));
        });
    Value read = tensor::ExtractOp::create(builder, loc, kernel.getResult(0), ValueRange());
    op->getResult(0).replaceAllUsesWith(read);
    op->erase();
  }
}

LogicalResult verifyHostFunction(func::FuncOp function) {
  bool good = true;
  function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isHostOperation(op))
      return WalkResult::advance();
    good = false;
    if (isScalarArithmetic(op))
      op->emitError() << "'" << op->getName()
                      << "' on scalars is not supported outside of tensor code: the host computes with integers, and "
                      << "of floats what is rounded the same everywhere";
    else
      op->emitError() << "'" << op->getName() << "' is not supported: no kernel is generated for it, and the host "
                      << "cannot run it";
    return WalkResult::skip(); // what it holds is not host code
  });
  return success(good);
}

} // namespace tenon::compiler::dispatch
