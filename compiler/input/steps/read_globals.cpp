// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A global that no function stores to is a value that never changes, and becomes a constant where it is loaded. One
// that is stored stays: it is a variable of the loaded program, and what an initializer does to it becomes a function
// that runs before the first call. (Devices are read before: read_devices.cpp.)
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/util/UtilOps.h"
#include "compiler/input/steps/steps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
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
    module_.walk([&](util::GlobalLoadOp load) { ok &= succeeded(checkLoad(load)); });
    if (!ok)
      return failure();
    findVariables();
    for (auto &[name, global] : globals_)
      ok &= succeeded(global.isVariable ? checkVariable(global) : check(global));
    if (!ok)
      return failure();
    formInitializer();
    // What an initializer computes may load other globals: those loads are cloned and then met themselves.
    while (true) {
      SmallVector<util::GlobalLoadOp> loads;
      module_.walk([&](util::GlobalLoadOp load) {
        if (!load->getParentOfType<util::InitializerOp>() && !isVariable(load.getGlobalAttr()))
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
      if (!global.isVariable)
        global.op.erase();
    return success();
  }

private:
  struct Global {
    util::GlobalOp op;
    SmallVector<util::GlobalStoreOp> stores; // in initializers
    bool isVariable = false;                 // it is set more than once: the loaded program has it, not each use
  };

  bool isVariable(FlatSymbolRefAttr name) const {
    auto found = globals_.find(name.getAttr());
    return found != globals_.end() && found->second.isVariable;
  }

  // Depth of initializers that load what other initializers store; more is a circle.
  static constexpr size_t kMaxLoads = 100000;

  LogicalResult takeStore(util::GlobalStoreOp store) {
    auto found = globals_.find(store.getGlobalAttr().getAttr());
    if (found == globals_.end())
      return store.emitOpError() << "names '@" << store.getGlobal() << "', which is no global here";
    auto initializer = store->getParentOfType<util::InitializerOp>();
    if (store.getValue().getType() != found->second.op.getType())
      return store.emitOpError() << "stores " << store.getValue().getType() << ", '@" << store.getGlobal()
                                 << "' has type " << found->second.op.getType();
    if (!initializer && !found->second.op.getIsMutable())
      return store.emitOpError() << "sets '@" << store.getGlobal()
                                 << "', which is not mutable: set it in util.initializer, or write 'mutable @"
                                 << store.getGlobal() << "' where it is declared";
    // What an initializer does in a branch or a loop is done when the program begins, not when it is compiled.
    if (!initializer || !initializer->getRegion(0).hasOneBlock() || store->getParentOp() != initializer)
      found->second.isVariable = true;
    else
      found->second.stores.push_back(store);
    return success();
  }

  LogicalResult checkLoad(util::GlobalLoadOp load) {
    auto found = globals_.find(load.getGlobalAttr().getAttr());
    if (found == globals_.end())
      return load.emitOpError() << "names '@" << load.getGlobal() << "', which is no global here";
    if (load.getType() != found->second.op.getType())
      return load.emitOpError() << "loads " << load.getType() << ", '@" << load.getGlobal() << "' has type "
                                << found->second.op.getType();
    return success();
  }

  func::FuncOp makeFunction(OpBuilder &builder, Location location) {
    std::string name = "initializer";
    for (unsigned number = 0; module_.lookupSymbol(name); ++number)
      name = "initializer_" + std::to_string(number);
    auto function = func::FuncOp::create(builder, location, name, FunctionType::get(module_.getContext(), {}, {}));
    function.setPrivate();
    return function;
  }

  /// An initializer that reads or sets a variable runs when the program begins, with all that it sets.
  bool usesVariables(util::InitializerOp initializer) {
    const WalkResult found = initializer->walk([&](Operation *op) {
      auto store = dyn_cast<util::GlobalStoreOp>(op);
      auto load = dyn_cast<util::GlobalLoadOp>(op);
      const bool isUse = (store && isVariable(store.getGlobalAttr())) || (load && isVariable(load.getGlobalAttr()));
      return isUse ? WalkResult::interrupt() : WalkResult::advance();
    });
    return found.wasInterrupted();
  }

  void findVariables() {
    for (auto &[name, global] : globals_) // what a mutable one is set to last, counts
      if (global.op.getIsMutable() && global.stores.size() + (global.op.getInitialValueAttr() ? 1 : 0) > 1)
        global.isVariable = true;
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      for (auto initializer : module_.getOps<util::InitializerOp>()) {
        if (!usesVariables(initializer))
          continue;
        initializer->walk([&](util::GlobalStoreOp store) {
          Global &global = globals_.find(store.getGlobalAttr().getAttr())->second;
          isChanged |= !global.isVariable;
          global.isVariable = true;
        });
      }
    }
  }

  /// Initializers in their order, less those that are only for constants.
  void formInitializer() {
    SmallVector<util::InitializerOp> initializers;
    for (auto initializer : module_.getOps<util::InitializerOp>())
      if (usesVariables(initializer))
        initializers.push_back(initializer);
    if (initializers.empty())
      return;
    OpBuilder builder = OpBuilder::atBlockEnd(module_.getBody());
    func::FuncOp all = makeFunction(builder, initializers.front().getLoc());
    all->setAttr(util::kInitializerAttr, builder.getUnitAttr());
    OpBuilder calls = OpBuilder::atBlockEnd(all.addEntryBlock());
    for (util::InitializerOp initializer : initializers) {
      func::FuncOp one = makeFunction(builder, initializer.getLoc());
      IRMapping mapping;
      initializer->getRegion(0).cloneInto(&one.getBody(), mapping);
      one.walk([](util::ReturnOp returned) {
        OpBuilder atReturn(returned);
        func::ReturnOp::create(atReturn, returned.getLoc());
        returned.erase();
      });
      func::CallOp::create(calls, initializer.getLoc(), one);
    }
    func::ReturnOp::create(calls, all.getLoc());
  }

  static LogicalResult checkVariable(Global &global) {
    util::GlobalOp op = global.op;
    if (!op.getInitialValueAttr())
      return success(); // to load it before it was stored fails the call
    return checkInitialValue(op);
  }

  static LogicalResult check(Global &global) {
    util::GlobalOp op = global.op;
    const size_t values = global.stores.size() + (op.getInitialValueAttr() ? 1 : 0);
    if (global.stores.size() > 1 || (op.getInitialValueAttr() && !global.stores.empty()))
      return op.emitError() << "global '@" << op.getSymName() << "' is set " << values << " times, once is wanted";
    if (values == 0)
      return op.emitError() << "global '@" << op.getSymName()
                            << "' has no value: write = dense<..>, or set it in util.initializer";
    return op.getInitialValueAttr() ? checkInitialValue(op) : success();
  }

  static LogicalResult checkInitialValue(util::GlobalOp op) {
    Attribute value = op.getInitialValueAttr();
    auto typed = dyn_cast<TypedAttr>(value);
    if (!typed || typed.getType() != op.getType() || !isa<ElementsAttr, IntegerAttr, FloatAttr>(value))
      return op.emitError() << "global '@" << op.getSymName() << "' has type " << op.getType() << " and value " << value
                            << ", a constant of its type is wanted";
    return success();
  }

  LogicalResult readLoad(util::GlobalLoadOp load) {
    Global &global = globals_.find(load.getGlobalAttr().getAttr())->second;
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
