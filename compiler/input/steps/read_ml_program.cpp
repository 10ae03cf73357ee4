// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ml_program is how torch-mlir writes what a module keeps between calls: the seed of its random numbers, a cache. Its
// globals, loads and stores say what those of util say. Functions of ml_program are left, and refused by name.
#include "compiler/dialect/util/UtilOps.h"
#include "compiler/input/steps/steps.h"

#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

/// A load or store names a global of the module, not one inside of another symbol.
LogicalResult checkPlace(Operation *op, SymbolRefAttr global) {
  if (global.getNestedReferences().empty())
    return success();
  return op->emitOpError() << "names " << global << ", a global inside of another symbol, which is not supported";
}

FlatSymbolRefAttr nameOf(SymbolRefAttr global) {
  return FlatSymbolRefAttr::get(global.getRootReference());
}

} // namespace

LogicalResult readMlProgram(ModuleOp module) {
  bool ok = true;
  for (auto global : llvm::make_early_inc_range(module.getOps<ml_program::GlobalOp>())) {
    OpBuilder builder(global);
    if (isa_and_nonnull<ml_program::ExternAttr>(global.getValueAttr())) {
      ok = false;
      global.emitOpError() << "is not supported: its value is outside of the module";
      continue;
    }
    util::GlobalOp::create(builder, global.getLoc(), global.getSymNameAttr(), global.getSymVisibilityAttr(),
                           global.getIsMutableAttr(), global.getTypeAttr(), global.getValueAttr());
    global.erase();
  }
  module.walk([&](Operation *op) {
    OpBuilder builder(op);
    auto readLoad = [&](auto load) {
      if (failed(checkPlace(op, load.getGlobalAttr()))) {
        ok = false;
        return;
      }
      Value loaded = util::GlobalLoadOp::create(builder, op->getLoc(), op->getResult(0).getType(),
                                                nameOf(load.getGlobalAttr()), UnitAttr());
      op->getResult(0).replaceAllUsesWith(loaded);
      op->erase();
    };
    if (auto load = dyn_cast<ml_program::GlobalLoadOp>(op)) {
      readLoad(load);
    } else if (auto load = dyn_cast<ml_program::GlobalLoadConstOp>(op)) {
      readLoad(load);
    } else if (auto store = dyn_cast<ml_program::GlobalStoreOp>(op)) {
      if (failed(checkPlace(op, store.getGlobalAttr()))) {
        ok = false;
        return;
      }
      util::GlobalStoreOp::create(builder, op->getLoc(), store.getValue(), nameOf(store.getGlobalAttr()));
      op->erase();
    }
  });
  return success(ok);
}

} // namespace tenon::compiler::input
