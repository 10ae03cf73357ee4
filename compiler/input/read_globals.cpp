// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program has functions and constants, and no memory of its own between calls. A global is therefore a value that
// never changes, or an error. (Devices are read before: read_devices.cpp.)
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/util/UtilOps.h"
#include "compiler/input/steps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

//===-- Values ---------------------------------------------------------------------------------------------------===//

/// Globals that hold values, and the operations on them.
class Globals {
public:
  explicit Globals(ModuleOp module) : module_(module) {}

  LogicalResult run() {
    for (auto global : module_.getOps<util::GlobalOp>())
      globals_.insert({global.getSymNameAttr(), Global{global, {}}});
    bool ok = true;
    module_.walk([&](util::GlobalStoreOp store) { ok &= succeeded(takeStore(store)); });
    for (auto &[name, global] : globals_)
      ok &= succeeded(check(global));
    if (!ok)
      return failure();
    // What an initializer computes may load other globals: those loads are cloned and then met themselves.
    while (true) {
      SmallVector<util::GlobalLoadOp> loads;
      module_.walk([&](util::GlobalLoadOp load) {
        if (!load->getParentOfType<util::InitializerOp>())
          loads.push_back(load);
      });
      if (loads.empty())
        break;
      for (util::GlobalLoadOp load : loads)
        if (failed(readLoad(load)))
          return failure();
    }
    for (auto initializer : llvm::make_early_inc_range(module_.getOps<util::InitializerOp>()))
      initializer.erase();
    for (auto &[name, global] : globals_)
      global.op.erase();
    return success();
  }

private:
  struct Global {
    util::GlobalOp op;
    SmallVector<util::GlobalStoreOp> stores;
  };

  // Depth of initializers that load what other initializers store; more is a circle.
  static constexpr size_t kMaxLoads = 100000;

  LogicalResult takeStore(util::GlobalStoreOp store) {
    auto found = globals_.find(store.getGlobalAttr().getAttr());
    if (found == globals_.end())
      return store.emitOpError() << "names '@" << store.getGlobal() << "', which is no global here";
    auto initializer = store->getParentOfType<util::InitializerOp>();
    if (!initializer)
      return refuseState(store, found->second.op);
    if (!initializer->getRegion(0).hasOneBlock())
      return initializer.emitError() << "an initializer with control flow is not supported: '@" << store.getGlobal()
                                     << "' is set here";
    found->second.stores.push_back(store);
    return success();
  }

  static LogicalResult refuseState(Operation *store, util::GlobalOp global) {
    InFlightDiagnostic error = store->emitError() << "global '@" << global.getSymName()
                                                  << "' is stored in a function: a program keeps no state between "
                                                     "calls; pass the value as an argument and return it";
    error.attachNote(global.getLoc()) << "'@" << global.getSymName() << "' is here";
    return error;
  }

  static LogicalResult check(Global &global) {
    util::GlobalOp op = global.op;
    const size_t values = global.stores.size() + (op.getInitialValueAttr() ? 1 : 0);
    if (global.stores.size() > 1 || (op.getInitialValueAttr() && !global.stores.empty()))
      return op.emitError() << "global '@" << op.getSymName() << "' is set " << values << " times, once is wanted";
    if (values == 0)
      return op.emitError() << "global '@" << op.getSymName()
                            << "' has no value: write = dense<..>, or set it in util.initializer";
    Attribute value = op.getInitialValueAttr();
    if (!value)
      return success();
    auto typed = dyn_cast<TypedAttr>(value);
    if (!typed || typed.getType() != op.getType() || !isa<ElementsAttr, IntegerAttr, FloatAttr>(value))
      return op.emitError() << "global '@" << op.getSymName() << "' has type " << op.getType() << " and value " << value
                            << ", a constant of its type is wanted";
    return success();
  }

  LogicalResult readLoad(util::GlobalLoadOp load) {
    auto found = globals_.find(load.getGlobalAttr().getAttr());
    if (found == globals_.end())
      return load.emitOpError() << "names '@" << load.getGlobal() << "', which is no global here";
    Global &global = found->second;
    if (load.getType() != global.op.getType())
      return load.emitOpError() << "loads " << load.getType() << ", '@" << load.getGlobal() << "' has type "
                                << global.op.getType();
    if (++loads_ > kMaxLoads)
      return load.emitOpError() << "needs its own value: the initializer of '@" << load.getGlobal()
                                << "' loads what depends on it";
    OpBuilder builder(load);
    Value value;
    if (Attribute constant = global.op.getInitialValueAttr()) {
      value = arith::ConstantOp::create(builder, load.getLoc(), cast<TypedAttr>(constant));
    } else {
      util::GlobalStoreOp store = global.stores.front();
      IRMapping mapping;
      for (Operation &op : store->getParentOfType<util::InitializerOp>()->getRegion(0).front())
        if (!isa<util::GlobalStoreOp, util::ReturnOp>(op))
          builder.clone(op, mapping);
      value = mapping.lookup(store.getValue());
    }
    load.replaceAllUsesWith(value);
    load.erase();
    return success();
  }

  ModuleOp module_;
  llvm::MapVector<StringAttr, Global> globals_;
  size_t loads_ = 0;
};

//===-- Constants ------------------------------------------------------------------------------------------------===//

/// The shape of a dynamic constant is not seen: that is what it is for.
void readConstant(Operation *op, TypedAttr value) {
  OpBuilder builder(op);
  Value made = arith::ConstantOp::create(builder, op->getLoc(), value);
  if (Type type = op->getResult(0).getType(); type != value.getType()) {
    made = tensor::CastOp::create(builder, op->getLoc(), type, made);
    made = util::OptimizationBarrierOp::create(builder, op->getLoc(), TypeRange(type), ValueRange(made)).getResult(0);
  }
  op->getResult(0).replaceAllUsesWith(made);
  op->erase();
}

} // namespace

LogicalResult readGlobals(ModuleOp module) {
  if (failed(Globals(module).run()))
    return failure();
  module.walk([](Operation *op) {
    if (auto constant = dyn_cast<flow::TensorConstantOp>(op))
      readConstant(op, constant.getValue());
    else if (auto dynamic = dyn_cast<flow::TensorDynamicConstantOp>(op))
      readConstant(op, cast<TypedAttr>(Attribute(dynamic.getValue())));
  });
  return success();
}

} // namespace tenon::compiler::input
