// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hal.executable lists a variant for each target, each with its own copy of the exports. They must be copies: one
// declaration is what the linker proves every variant against. Then the first one's exports and everyone's objects make
// the hal.executable.source.
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/transforms/normalize.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::compiler {

// What two declarations of one export differ in; empty when nothing.
static StringRef differenceOf(hal::ExecutableExportOp a, hal::ExecutableExportOp b) {
  if (a.getLayout() != b.getLayout())
    return "layout";
  if (a.getOrdinalAttr() != b.getOrdinalAttr())
    return "ordinal";
  if (a.getWorkgroupSizeAttr() != b.getWorkgroupSizeAttr())
    return "workgroup_size";
  if (a.getSubgroupSizeAttr() != b.getSubgroupSizeAttr())
    return "subgroup_size";
  if (a.getWorkgroupLocalMemoryAttr() != b.getWorkgroupLocalMemoryAttr())
    return "workgroup_local_memory";
  for (StringRef name : {StringRef(kFallbackAttr), StringRef(kClusterAttr)})
    if (a->getAttr(name) != b->getAttr(name))
      return name;
  if (!OperationEquivalence::isRegionEquivalentTo(&a.getWorkgroupCount(), &b.getWorkgroupCount(),
                                                  OperationEquivalence::IgnoreLocations))
    return "count region";
  return "";
}

// Every export of `from` is in `to`, the same where `compare`.
static LogicalResult checkExports(hal::ExecutableVariantOp from, hal::ExecutableVariantOp to, bool compare) {
  bool ok = true;
  for (auto exportOp : from.getBody().getOps<hal::ExecutableExportOp>()) {
    auto other = dyn_cast_or_null<hal::ExecutableExportOp>(SymbolTable::lookupSymbolIn(to, exportOp.getSymNameAttr()));
    StringRef difference = other && compare ? differenceOf(exportOp, other) : StringRef();
    if (other && difference.empty())
      continue;
    ok = false;
    InFlightDiagnostic diagnostic = exportOp.emitError() << "export '" << exportOp.getSymName() << "' of variant '"
                                                         << from.getSymName() << "' ";
    if (other)
      diagnostic << "has another " << difference << " than that of variant '" << to.getSymName()
                 << "': declare it the same in every variant";
    else
      diagnostic << "is not in variant '" << to.getSymName() << "': declare it in every variant";
    diagnostic.attachNote(other ? other.getLoc() : to.getLoc())
        << "'" << (other ? other.getSymName() : to.getSymName()) << "' is declared here";
  }
  return success(ok);
}

static LogicalResult merge(hal::ExecutableOp op) {
  SmallVector<hal::ExecutableVariantOp> variants(op.getBody().getOps<hal::ExecutableVariantOp>());
  bool ok = true;
  for (hal::ExecutableVariantOp variant : ArrayRef(variants).drop_front()) {
    ok &= succeeded(checkExports(variant, variants.front(), /*compare=*/true));
    ok &= succeeded(checkExports(variants.front(), variant, /*compare=*/false));
  }
  if (!ok)
    return failure();

  OpBuilder builder(op);
  SmallVector<Attribute> targets, objects;
  for (hal::ExecutableVariantOp variant : variants) {
    targets.push_back(variant.getTarget());
    objects.push_back(variant.getObjectsAttr());
  }
  auto source = hal::ExecutableSourceOp::create(
      builder, op.getLoc(), op.getSymNameAttr(), op.getSymVisibilityAttr(),
      hal::ExecutableObjectsAttr::get(op.getContext(), builder.getArrayAttr(targets), builder.getArrayAttr(objects)));
  source->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
  source.getBody().takeBody(variants.front().getBody());
  op.erase();
  return success();
}

// flow.dispatch of `@executable::@variant::@export` names the export of the source. A list of entry points must name
// every variant of one export: a part of them would pin the choice, which the loader makes.
static LogicalResult renameEntryPoints(flow::DispatchOp op, SymbolTableCollection &tables) {
  llvm::SetVector<Attribute> renamed;
  llvm::SetVector<StringRef> named;
  hal::ExecutableOp executable;
  for (auto symbol : op.getEntryPoints().getAsRange<SymbolRefAttr>()) {
    if (auto root = tables.lookupNearestSymbolFrom<hal::ExecutableOp>(op, symbol.getRootReference());
        root && symbol.getNestedReferences().size() == 2) {
      executable = root;
      named.insert(symbol.getNestedReferences()[0].getValue());
    }
    renamed.insert(SymbolRefAttr::get(symbol.getRootReference(), {FlatSymbolRefAttr::get(symbol.getLeafReference())}));
  }
  if (renamed.size() != 1)
    return op.emitError() << "'flow.dispatch' with several entry points " << op.getEntryPoints()
                          << " is not compiled yet, one export is wanted";
  if (!named.empty())
    for (auto variant : executable.getBody().getOps<hal::ExecutableVariantOp>())
      if (!named.contains(variant.getSymName()))
        return op.emitError() << "'flow.dispatch' of some variants of '" << executable.getSymName()
                              << "' is not compiled yet: name every variant, or write " << renamed[0];
  op.setEntryPointsAttr(ArrayAttr::get(op.getContext(), renamed.getArrayRef()));
  op->removeAttr("hal.interface.bindings");
  return success();
}

LogicalResult mergeVariants(ModuleOp module) {
  bool ok = true;
  SymbolTableCollection tables;
  module.walk([&](flow::DispatchOp op) { ok &= succeeded(renameEntryPoints(op, tables)); });
  for (auto op : llvm::make_early_inc_range(module.getOps<hal::ExecutableOp>()))
    ok &= succeeded(merge(op));
  return success(ok);
}

} // namespace tenon::compiler
