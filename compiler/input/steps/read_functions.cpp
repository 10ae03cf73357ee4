// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// util.func and func.func say the same. What the first can say besides, which results share memory with which
// arguments, has no meaning for values.
#include "compiler/dialect/util/UtilOps.h"
#include "compiler/input/steps/steps.h"
#include "support/text/nearest_names.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

void readFunction(util::FuncOp op) {
  OpBuilder builder(op);
  SmallVector<DictionaryAttr> argumentAttributes;
  if (ArrayAttr list = op.getArgAttrsAttr())
    llvm::append_range(argumentAttributes, list.getAsRange<DictionaryAttr>());
  auto function = func::FuncOp::create(builder, op.getLoc(), op.getSymName(), cast<FunctionType>(op.getFunctionType()),
                                       llvm::to_vector(op->getDiscardableAttrs()), argumentAttributes);
  function.setSymVisibilityAttr(op.getSymVisibilityAttr());
  if (ArrayAttr list = op.getResAttrsAttr())
    function.setResAttrsAttr(list);
  function.getBody().takeBody(op.getBody());
  function.walk([](util::ReturnOp returned) {
    OpBuilder atReturn(returned);
    func::ReturnOp::create(atReturn, returned.getLoc(), returned.getOperands());
    returned.erase();
  });
  op.erase();
}

LogicalResult readCall(util::CallOp call, SymbolTable &symbols) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  if (!callee) {
    std::vector<std::string> known;
    for (auto function : cast<ModuleOp>(symbols.getOp()).getOps<func::FuncOp>())
      known.push_back(function.getSymName().str());
    InFlightDiagnostic error = call.emitOpError() << "calls '@" << call.getCallee() << "', which is no function here";
    if (std::vector<std::string> near = nearestNames(std::string_view(call.getCallee()), known); !near.empty())
      error << ": did you mean " << quotedList(near, "or") << "?";
    return error;
  }
  if (callee.getFunctionType() != FunctionType::get(call.getContext(), call.getOperandTypes(), call.getResultTypes())) {
    InFlightDiagnostic error = call.emitOpError()
                               << "has type (" << call.getOperandTypes() << ") -> (" << call.getResultTypes() << "), '@"
                               << call.getCallee() << "' has " << callee.getFunctionType();
    error.attachNote(callee.getLoc()) << "'@" << call.getCallee() << "' is here";
    return error;
  }
  OpBuilder builder(call);
  auto made = func::CallOp::create(builder, call.getLoc(), callee, call.getOperands());
  call.replaceAllUsesWith(made.getResults());
  call.erase();
  return success();
}

} // namespace

LogicalResult readFunctions(ModuleOp module) {
  for (auto op : llvm::make_early_inc_range(module.getOps<util::FuncOp>()))
    readFunction(op);
  SmallVector<util::CallOp> calls;
  module.walk([&](Operation *op) {
    if (auto call = dyn_cast<util::CallOp>(op))
      calls.push_back(call);
    if (auto assumed = dyn_cast<util::AssumeIntOp>(op)) { // a hint
      assumed.replaceAllUsesWith(assumed.getOperands());
      assumed.erase();
    }
  });
  SymbolTable symbols(module);
  bool ok = true;
  for (util::CallOp call : calls)
    ok &= succeeded(readCall(call, symbols));
  return success(ok);
}

} // namespace tenon::compiler::input
