// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IREE's ABI makes buffer views of a function's tensors: each argument is imported as a tensor, each result exported,
// or passed on to and from a function that does so. A program's functions take and return the tensors themselves.
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/input/steps/steps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

bool isView(Type type) {
  return isa<hal::BufferViewType>(type);
}

func::FuncOp calleeOf(func::CallOp call) {
  return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
}

bool hasViews(func::FuncOp function) {
  return llvm::any_of(function.getArgumentTypes(), isView) || llvm::any_of(function.getResultTypes(), isView);
}

/// A tensor of other elements: the same bits where there are as many, else the same values, rounded or cut off.
Value withElements(OpBuilder &builder, Location loc, Value tensor, Type wanted) {
  const Type from = getElementTypeOrSelf(tensor.getType()), to = getElementTypeOrSelf(wanted);
  if (from == to)
    return tensor;
  const unsigned before = from.getIntOrFloatBitWidth(), behind = to.getIntOrFloatBitWidth();
  if (before == behind)
    return arith::BitcastOp::create(builder, loc, wanted, tensor);
  if (isa<FloatType>(from))
    return before < behind ? arith::ExtFOp::create(builder, loc, wanted, tensor).getResult()
                           : arith::TruncFOp::create(builder, loc, wanted, tensor).getResult();
  if (from.isInteger(1))
    return arith::ExtUIOp::create(builder, loc, wanted, tensor);
  return before < behind ? arith::ExtSIOp::create(builder, loc, wanted, tensor).getResult()
                         : arith::TruncIOp::create(builder, loc, wanted, tensor).getResult();
}

Type encodingOf(hal::TensorImportOp import) {
  return import.getEncoding().value_or(import.getTarget().getType());
}

/// One function on its way. Those that it calls have tensors already.
class Function {
public:
  explicit Function(func::FuncOp op) : op_(op) {}

  LogicalResult run() {
    if (op_.isExternal())
      return op_.emitOpError() << "takes or returns buffer views, and has no body that says what is in them";
    for (BlockArgument argument : op_.getArguments())
      if (isView(argument.getType()) && failed(readArgument(argument)))
        return failure();
    SmallVector<func::CallOp> calls; // reading one erases what stands behind it
    op_.walk([&](func::CallOp call) { calls.push_back(call); });
    for (func::CallOp call : calls)
      if (failed(readCall(call)))
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
  /// The tensor that a use makes of a buffer view; nothing where it asks for no more than a size.
  static FailureOr<Type> typeIn(OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto import = dyn_cast<hal::TensorImportOp>(user))
      return encodingOf(import);
    if (auto alias = dyn_cast<hal::TensorAliasOp>(user))
      return alias.getSource().getType();
    if (auto call = dyn_cast<func::CallOp>(user))
      return calleeOf(call).getArgumentTypes()[use.getOperandNumber()];
    if (isa<hal::BufferViewDimOp, func::ReturnOp>(user))
      return Type();
    return user->emitOpError() << "takes a buffer view; what is read of one is hal.tensor.import and "
                                  "hal.buffer_view.dim, what is written hal.tensor.alias";
  }

  LogicalResult readArgument(BlockArgument argument) {
    SmallVector<OpOperand *> uses; // in the order of the text
    for (OpOperand &use : argument.getUses())
      uses.push_back(&use);
    Operation *first = nullptr;
    Type type;
    for (OpOperand *use : llvm::reverse(uses)) {
      FailureOr<Type> here = typeIn(*use);
      if (failed(here))
        return failure();
      if (!*here || isView(*here)) // a function that calls itself says nothing of it
        continue;
      if (first && type != *here) {
        InFlightDiagnostic error = use->getOwner()->emitOpError() << "has type " << *here;
        error.attachNote(first->getLoc()) << "the same buffer view is a " << type << " here";
        return error;
      }
      first = use->getOwner();
      type = *here;
    }
    if (!first && llvm::all_of(argument.getUsers(), [](Operation *user) { return isa<func::CallOp>(user); }))
      return success(); // nobody reads it: it stays a buffer view, of anything
    if (!first)
      return op_.emitOpError() << "has argument #" << argument.getArgNumber()
                               << ", a buffer view that no hal.tensor.import makes a tensor of: its shape is not known";
    argument.setType(type);
    return readUses(argument);
  }

  /// Of what was a buffer view, and is a tensor now.
  LogicalResult readUses(Value tensor) {
    for (Operation *user : llvm::make_early_inc_range(tensor.getUsers())) {
      LogicalResult isRead = success(); // and gone
      if (auto import = dyn_cast<hal::TensorImportOp>(user))
        isRead = readImport(import, tensor);
      else if (auto dim = dyn_cast<hal::BufferViewDimOp>(user))
        isRead = readDim(dim, tensor);
      else if (auto alias = dyn_cast<hal::TensorAliasOp>(user))
        alias.getResult().replaceAllUsesWith(alias.getSource());
      if (failed(isRead))
        return failure();
    }
    return success();
  }

  /// Sizes that are asked of the tensor itself are its own; others are checked when the program runs.
  LogicalResult readImport(hal::TensorImportOp import, Value tensor) {
    if (encodingOf(import) != tensor.getType())
      return import.emitOpError() << "has type " << encodingOf(import) << ", the buffer view is a " << tensor.getType();
    OpBuilder builder(import);
    Value tied = tensor;
    if (!llvm::all_of(import.getTargetDims(), [&](Value size) {
          auto dim = size.getDefiningOp<hal::BufferViewDimOp>();
          auto same = size.getDefiningOp<tensor::DimOp>();
          return (dim && dim.getBufferView() == tensor) || (same && same.getSource() == tensor);
        }))
      tied = flow::TensorTieShapeOp::create(builder, import.getLoc(), tensor.getType(), tensor, import.getTargetDims());
    import.getTarget().replaceAllUsesWith(withElements(builder, import.getLoc(), tied, import.getTarget().getType()));
    import.erase();
    return success();
  }

  LogicalResult readDim(hal::BufferViewDimOp dim, Value tensor) {
    const int64_t dimension = dim.getIndex().getSExtValue();
    const auto type = cast<RankedTensorType>(tensor.getType());
    if (dimension < 0 || dimension >= type.getRank())
      return dim.emitOpError() << "asks for dimension " << dimension << ", the buffer view is a " << type;
    OpBuilder builder(dim);
    dim.getResult().replaceAllUsesWith(tensor::DimOp::create(builder, dim.getLoc(), tensor, dimension));
    dim.erase();
    return success();
  }

  /// Operands that are exported become what they were, results what the callee returns.
  LogicalResult readCall(func::CallOp call) {
    func::FuncOp callee = calleeOf(call);
    if (!llvm::any_of(call.getOperandTypes(), isView) && !llvm::any_of(call.getResultTypes(), isView))
      return success();
    for (OpOperand &operand : call->getOpOperands())
      takeExported(operand);
    // For what the callee does not read anything is given: dropUnread() takes it away.
    if (!llvm::equal(call.getOperandTypes(), callee.getArgumentTypes(),
                     [](Type given, Type taken) { return given == taken || isView(taken); }))
      return call.emitOpError() << "passes (" << call.getOperandTypes() << "), '@" << call.getCallee() << "' takes ("
                                << callee.getArgumentTypes() << ")";
    for (auto [result, type] : llvm::zip_equal(call.getResults(), callee.getResultTypes())) {
      const bool was = isView(result.getType());
      result.setType(type);
      if (was && !isView(type) && failed(readUses(result)))
        return failure();
    }
    return success();
  }

  static bool takeExported(OpOperand &operand) {
    auto exported = operand.get().getDefiningOp<hal::TensorExportOp>();
    if (!exported)
      return false;
    OpBuilder builder(exported);
    operand.set(withElements(builder, exported.getLoc(), exported.getSource(),
                             exported.getEncoding().value_or(exported.getSource().getType())));
    if (exported->use_empty())
      exported.erase();
    return true;
  }

  LogicalResult readReturn(func::ReturnOp returned) {
    for (OpOperand &operand : returned->getOpOperands())
      if (isView(operand.get().getType()) && !takeExported(operand))
        return returned.emitOpError() << "returns a buffer view as operand #" << operand.getOperandNumber()
                                      << " that no hal.tensor.export made";
    return success();
  }

  func::FuncOp op_;
};

/// Functions of a module, what is called before who calls.
class Functions {
public:
  LogicalResult run(func::FuncOp function) {
    if (!hasViews(function) || !begun_.insert(function).second)
      return success();
    bool ok = true;
    function.walk([&](func::CallOp call) { ok &= succeeded(run(calleeOf(call))); });
    return success(ok && succeeded(Function(function).run()));
  }

private:
  llvm::DenseSet<Operation *> begun_;
};

/// Functions that callers of the program see keep their arguments. The module itself calls a copy of one that has
/// buffer views still, which nobody reads.
void copyForCalls(ModuleOp module) {
  SymbolTable symbols(module);
  SmallVector<func::FuncOp> seen;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isPrivate() && !function.isExternal() && llvm::any_of(function.getArgumentTypes(), isView))
      seen.push_back(function);
  for (func::FuncOp function : seen) {
    if (SymbolTable::symbolKnownUseEmpty(function, module))
      continue;
    func::FuncOp copy = function.clone();
    copy.setPrivate();
    const StringAttr name = symbols.insert(copy);
    module.walk([&](func::CallOp call) {
      if (call.getCallee() == function.getSymName())
        call.setCallee(name);
    });
  }
}

/// Takes arguments that nobody reads from functions that only the module calls. One that passes them on is done once
/// the other is, so this is done until nothing changes.
void dropUnread(ModuleOp module) {
  copyForCalls(module);
  for (bool changed = true; changed;) {
    changed = false;
    for (auto function : module.getOps<func::FuncOp>()) {
      llvm::BitVector unread(function.getNumArguments());
      if (function.isPrivate() && !function.isExternal())
        for (BlockArgument argument : function.getArguments())
          unread[argument.getArgNumber()] = isView(argument.getType()) && argument.use_empty();
      if (unread.none() || failed(function.eraseArguments(unread)))
        continue;
      changed = true;
      module.walk([&](func::CallOp call) {
        if (call.getCallee() == function.getSymName())
          call->eraseOperands(unread);
      });
    }
  }
}

} // namespace

LogicalResult readBufferViews(ModuleOp module) {
  bool ok = true;
  Functions functions;
  for (auto function : module.getOps<func::FuncOp>())
    ok &= succeeded(functions.run(function));
  if (!ok)
    return failure();
  dropUnread(module);
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
