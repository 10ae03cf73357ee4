// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IREE's ABI makes buffer views of a function's tensors: each argument is imported as a tensor, each result exported.
// A program's functions take and return the tensors themselves.
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/input/steps/steps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

bool isView(Type type) {
  return isa<hal::BufferViewType>(type);
}

/// One function on its way.
class Function {
public:
  explicit Function(func::FuncOp op) : op_(op) {}

  LogicalResult run() {
    if (op_.isExternal())
      return op_.emitOpError() << "takes or returns buffer views, and has no body that says what is in them";
    for (BlockArgument argument : op_.getArguments())
      if (isView(argument.getType()) && failed(readArgument(argument)))
        return failure();
    SmallVector<Type> results(op_.getResultTypes());
    for (Block &block : op_.getBody())
      if (auto returned = dyn_cast<func::ReturnOp>(block.getTerminator()); returned && failed(readReturn(returned)))
        return failure();
    for (Block &block : op_.getBody())
      if (auto returned = dyn_cast<func::ReturnOp>(block.getTerminator()))
        results = llvm::to_vector(returned.getOperandTypes());
    for (Block &block : op_.getBody())
      if (auto returned = dyn_cast<func::ReturnOp>(block.getTerminator());
          returned && !llvm::equal(returned.getOperandTypes(), results))
        return returned.emitOpError() << "returns (" << returned.getOperandTypes() << "), another one of the function ("
                                      << TypeRange(results) << "): the same types are wanted";
    op_.setFunctionType(FunctionType::get(op_.getContext(), op_.getBody().getArgumentTypes(), results));
    return success();
  }

private:
  LogicalResult readArgument(BlockArgument argument) {
    hal::TensorImportOp first;
    for (Operation *user : llvm::reverse(llvm::to_vector(argument.getUsers()))) {
      auto import = dyn_cast<hal::TensorImportOp>(user);
      if (!import && !isa<hal::BufferViewDimOp, func::ReturnOp>(user))
        return user->emitOpError() << "takes a buffer view; what is read of one is hal.tensor.import and "
                                      "hal.buffer_view.dim";
      if (!import)
        continue;
      if (first && first.getTarget().getType() != import.getTarget().getType()) {
        InFlightDiagnostic error = import.emitOpError() << "has type " << import.getTarget().getType();
        error.attachNote(first.getLoc()) << "the same buffer view is a " << first.getTarget().getType() << " here";
        return error;
      }
      first = import;
    }
    if (!first)
      return op_.emitOpError() << "has argument #" << argument.getArgNumber()
                               << ", a buffer view that no hal.tensor.import makes a tensor of: its shape is not known";
    const RankedTensorType type = first.getTarget().getType();
    argument.setType(type);
    for (Operation *user : llvm::make_early_inc_range(argument.getUsers()))
      if (auto import = dyn_cast<hal::TensorImportOp>(user))
        readImport(import, argument);
      else if (auto dim = dyn_cast<hal::BufferViewDimOp>(user); dim && failed(readDim(dim, argument)))
        return failure();
    return success();
  }

  /// Sizes that are asked of the argument itself are its own; others are checked when the program runs.
  void readImport(hal::TensorImportOp import, BlockArgument argument) {
    OpBuilder builder(import);
    Value tensor = argument;
    if (!llvm::all_of(import.getTargetDims(), [&](Value size) {
          auto dim = size.getDefiningOp<hal::BufferViewDimOp>();
          auto same = size.getDefiningOp<tensor::DimOp>();
          return (dim && dim.getBufferView() == argument) || (same && same.getSource() == argument);
        }))
      tensor = flow::TensorTieShapeOp::create(builder, import.getLoc(), argument.getType(), argument,
                                              import.getTargetDims());
    import.getTarget().replaceAllUsesWith(tensor);
    import.erase();
  }

  LogicalResult readDim(hal::BufferViewDimOp dim, BlockArgument argument) {
    const int64_t dimension = dim.getIndex().getSExtValue();
    const auto type = cast<RankedTensorType>(argument.getType());
    if (dimension < 0 || dimension >= type.getRank())
      return dim.emitOpError() << "asks for dimension " << dimension << ", the buffer view is a " << type;
    OpBuilder builder(dim);
    dim.getResult().replaceAllUsesWith(tensor::DimOp::create(builder, dim.getLoc(), argument, dimension));
    dim.erase();
    return success();
  }

  LogicalResult readReturn(func::ReturnOp returned) {
    for (OpOperand &operand : returned->getOpOperands()) {
      if (!isView(operand.get().getType()))
        continue;
      auto exported = operand.get().getDefiningOp<hal::TensorExportOp>();
      if (!exported)
        return returned.emitOpError() << "returns a buffer view as operand #" << operand.getOperandNumber()
                                      << " that no hal.tensor.export made";
      operand.set(exported.getSource());
      if (exported->use_empty())
        exported.erase();
    }
    return success();
  }

  func::FuncOp op_;
};

} // namespace

LogicalResult readBufferViews(ModuleOp module) {
  bool ok = true;
  for (auto function : module.getOps<func::FuncOp>())
    if (llvm::any_of(function.getArgumentTypes(), isView) || llvm::any_of(function.getResultTypes(), isView))
      ok &= succeeded(Function(function).run());
  if (!ok)
    return failure();
  module.walk([&](Operation *op) {
    const bool holds = llvm::any_of(op->getOperandTypes(), isView) || llvm::any_of(op->getResultTypes(), isView);
    if (!holds || isa<func::FuncOp>(op))
      return;
    if (isPure(op) && op->use_empty()) // an export that nobody returns
      return;
    ok = false;
    op->emitOpError() << "has a buffer view, which only arguments and results of functions are; a tensor is wanted";
  });
  return success(ok);
}

} // namespace tenon::compiler::input
