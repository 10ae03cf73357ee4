// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a well-formed flow.dispatch is: on its own, and against the declaration that it names.
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/hal/dispatch_rules.h"
#include "support/text/nearest_names.h"

using namespace mlir;

namespace tenon::compiler::flow {

static DispatchShape shapeOf(DispatchOp op) {
  return {.arguments = op.getArguments().getTypes(),
          .results = op.getResultTypes(),
          .tied = op.getTiedOperands().value_or(ArrayRef<int64_t>()),
          .workload = unsigned(op.getWorkload().size()),
          .argumentDims = unsigned(op.getArgumentDims().size()),
          .resultDims = unsigned(op.getResultDims().size())};
}

LogicalResult DispatchOp::verify() {
  if (getEntryPoints().empty())
    return emitOpError() << "has no entry point, @executable::@export is wanted";
  for (Attribute entryPoint : getEntryPoints()) {
    auto symbol = dyn_cast<SymbolRefAttr>(entryPoint);
    if (!symbol || symbol.getNestedReferences().empty() || symbol.getNestedReferences().size() > 2)
      return emitOpError() << "has entry point " << entryPoint
                           << ", @executable::@export or @executable::@variant::@export is wanted";
  }
  return verifyDispatchShape(*this, shapeOf(*this));
}

// "did you mean 'a' or 'b'?" among the symbols of `table` that `isWanted` takes; all of them when none is near.
static void suggest(InFlightDiagnostic &diagnostic, StringRef wanted, Region &table,
                    llvm::function_ref<bool(Operation &)> isWanted) {
  std::vector<std::string> known;
  for (Operation &op : table.getOps())
    if (isWanted(op))
      known.push_back(SymbolTable::getSymbolName(&op).str());
  std::vector<std::string> near = nearestNames(std::string_view(wanted), known);
  if (!near.empty())
    diagnostic << ": did you mean " << quotedList(near, "or") << "?";
  else if (!known.empty())
    diagnostic << ", there is " << quotedList(known);
}

// The table that holds the exports behind `symbol`: the source's, or that of the variant it names or, where it names
// none, of the first variant.
static Operation *findExportTable(DispatchOp op, SymbolRefAttr symbol, SymbolTableCollection &tables) {
  Operation *root = tables.lookupNearestSymbolFrom(op, symbol.getRootReference());
  if (!isa_and_nonnull<hal::ExecutableSourceOp, hal::ExecutableOp>(root)) {
    InFlightDiagnostic diagnostic = op.emitOpError() << "names executable '" << symbol.getRootReference().getValue()
                                                     << "', which " << (root ? "is no executable" : "is not declared");
    suggest(diagnostic, symbol.getRootReference().getValue(), SymbolTable::getNearestSymbolTable(op)->getRegion(0),
            [](Operation &op) { return isa<hal::ExecutableSourceOp, hal::ExecutableOp>(op); });
    return nullptr;
  }
  auto executable = dyn_cast<hal::ExecutableOp>(root);
  bool namesVariant = symbol.getNestedReferences().size() == 2;
  if (!executable && !namesVariant)
    return root;
  if (!executable) {
    op.emitOpError() << "has entry point " << symbol << ", '" << symbol.getRootReference().getValue()
                     << "' has no variants: write @executable::@export";
    return nullptr;
  }
  if (!namesVariant)
    return &*executable.getBody().front().begin();
  StringAttr name = symbol.getNestedReferences()[0].getAttr();
  Operation *variant = tables.lookupSymbolIn(root, name);
  if (!variant) {
    InFlightDiagnostic diagnostic = op.emitOpError() << "names variant '" << name.getValue() << "', which '"
                                                     << executable.getSymName() << "' does not have";
    suggest(diagnostic, name, executable.getBody(), [](Operation &op) { return isa<hal::ExecutableVariantOp>(op); });
  }
  return variant;
}

// Everything that one dispatch names exists, and is declared as the dispatch uses it.
static LogicalResult verifyUses(DispatchOp op, SymbolTableCollection &tables) {
  bool ok = true;
  for (auto symbol : op.getEntryPoints().getAsRange<SymbolRefAttr>()) {
    Operation *table = findExportTable(op, symbol, tables);
    if (!table) {
      ok = false;
      continue;
    }
    auto target = dyn_cast_or_null<hal::ExecutableExportOp>(tables.lookupSymbolIn(table, symbol.getLeafReference()));
    if (!target) {
      ok = false;
      InFlightDiagnostic diagnostic = op.emitOpError()
                                      << "names export '" << symbol.getLeafReference().getValue() << "', which '"
                                      << SymbolTable::getSymbolName(table).getValue() << "' does not have";
      suggest(diagnostic, symbol.getLeafReference(), table->getRegion(0),
              [](Operation &op) { return isa<hal::ExecutableExportOp>(op); });
      diagnostic.attachNote(table->getLoc())
          << "'" << SymbolTable::getSymbolName(table).getValue() << "' is declared here";
      continue;
    }
    ok &= succeeded(verifyDispatchAgainst(op, shapeOf(op), target.getSymName(), target.getLayout(),
                                          target.getWorkgroupCount(), target.getLoc()));
  }
  return success(ok);
}

// MLIR stops at the first symbol user that fails. A user wants to see them all, so the first one reports the others
// too.
LogicalResult DispatchOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (succeeded(verifyUses(*this, tables)))
    return success();
  Operation *table = SymbolTable::getNearestSymbolTable(*this);
  table->walk([&](DispatchOp other) {
    if (other != *this && SymbolTable::getNearestSymbolTable(other) == table)
      (void)verifyUses(other, tables);
  });
  return failure();
}

} // namespace tenon::compiler::flow
