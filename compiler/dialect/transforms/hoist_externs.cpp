// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hal.dispatch.extern declares a kernel where it is used. Its declaration moves to a hal.executable.source in front of
// the function; dispatches that declare the same kernel in the same words share one.
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/transforms/normalize.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;

namespace tenon::compiler {

namespace {
struct Hoisted {
  hal::ExecutableSourceOp source;
  hal::ExecutableExportOp exportOp;
};
} // namespace

// Whether the declaration of `op` is the one hoisted before.
static bool declaresSame(hal::DispatchExternOp op, hal::ExecutableObjectsAttr objects, Hoisted hoisted) {
  hal::ExecutableExportOp other = hoisted.exportOp;
  return op.getExportName() == other.getSymName() && op.getLayout() == other.getLayout() &&
         objects == hoisted.source.getObjectsAttr() && op.getWorkgroupSizeAttr() == other.getWorkgroupSizeAttr() &&
         op.getSubgroupSizeAttr() == other.getSubgroupSizeAttr() &&
         op.getWorkgroupLocalMemoryAttr() == other.getWorkgroupLocalMemoryAttr() &&
         op->getAttr(kFallbackAttr) == other->getAttr(kFallbackAttr) &&
         op->getAttr(kClusterAttr) == other->getAttr(kClusterAttr) &&
         OperationEquivalence::isRegionEquivalentTo(&op.getWorkgroupCount(), &other.getWorkgroupCount(),
                                                    OperationEquivalence::IgnoreLocations);
}

static Hoisted hoist(OpBuilder &builder, SymbolTable &symbols, hal::DispatchExternOp op,
                     hal::ExecutableObjectsAttr objects, unsigned number) {
  MLIRContext *context = op.getContext();
  builder.clearInsertionPoint(); // the symbol table places it
  Operation *function = op;
  while (function->getParentOp() != symbols.getOp())
    function = function->getParentOp();
  auto source = hal::ExecutableSourceOp::create(builder, op.getLoc(), ("extern_dispatch_" + Twine(number)).str(),
                                                StringAttr::get(context, "private"), objects);
  source.getBody().emplaceBlock();
  symbols.insert(source, function->getIterator());
  builder.setInsertionPointToStart(&source.getBody().front());
  // The kernel is found by its name; the ordinal that an object gives it is of no use in PTX.
  auto exportOp = hal::ExecutableExportOp::create(
      builder, op.getLoc(), op.getExportNameAttr(), StringAttr::get(context, "public"), builder.getIndexAttr(0),
      op.getLayoutAttr(), op.getWorkgroupSizeAttr(), op.getSubgroupSizeAttr(), op.getWorkgroupLocalMemoryAttr(),
      /*condition_fallback=*/FlatSymbolRefAttr());
  for (StringRef name : {StringRef(kFallbackAttr), StringRef(kClusterAttr)})
    if (Attribute ours = op->getAttr(name))
      exportOp->setAttr(name, ours);
  exportOp.getWorkgroupCount().takeBody(op.getWorkgroupCount());
  return {source, exportOp};
}

LogicalResult hoistExterns(ModuleOp module) {
  SymbolTable symbols(module);
  OpBuilder builder(module.getContext());
  SmallVector<Hoisted> hoisted;
  SmallVector<hal::DispatchExternOp> externs;
  module.walk([&](hal::DispatchExternOp op) { externs.push_back(op); });
  for (hal::DispatchExternOp op : externs) {
    auto objects = hal::ExecutableObjectsAttr::get(op.getContext(), op.getTargets(), op.getTargetObjects());
    auto *same = llvm::find_if(hoisted, [&](Hoisted other) { return declaresSame(op, objects, other); });
    if (same == hoisted.end()) {
      hoisted.push_back(hoist(builder, symbols, op, objects, hoisted.size()));
      same = &hoisted.back();
    }
    auto entryPoint = SymbolRefAttr::get(same->source.getSymNameAttr(), {FlatSymbolRefAttr::get(same->exportOp)});
    builder.setInsertionPoint(op);
    auto dispatch = flow::DispatchOp::create(builder, op.getLoc(), entryPoint, op.getWorkload(), op.getResultTypes(),
                                             op.getResultDims(), op.getArguments(), op.getArgumentDims(),
                                             op.getTiedOperands().value_or(ArrayRef<int64_t>()));
    op.replaceAllUsesWith(dispatch);
    op.erase();
  }
  return success();
}

} // namespace tenon::compiler
