// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dialect/tile_pins.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace tenon::compiler {
namespace {

constexpr StringLiteral kPlace = "place";
constexpr StringLiteral kExample = "{by = \"wgmma\", rows = 128, columns = 256}";

/// The operation of the body whose value is yielded; null: a value of outside is, or an element as it stands.
Operation *yieldedBy(Operation *op) {
  auto generic = dyn_cast_or_null<linalg::LinalgOp>(op);
  if (!generic || generic->getNumRegions() != 1 || generic->getRegion(0).empty())
    return nullptr;
  Operation *yield = generic->getRegion(0).front().getTerminator();
  Operation *value = yield->getNumOperands() == 0 ? nullptr : yield->getOperand(0).getDefiningOp();
  return value && generic->isAncestor(value) ? value : nullptr;
}

LogicalResult verifyForm(Operation *op, Attribute pin) {
  auto entries = dyn_cast<DictionaryAttr>(pin);
  if (!entries)
    return op->emitError() << "'" << kTileAttr << "' is " << pin << "; wanted: who multiplies, and numbers, such as "
                           << kExample;
  if (!isa_and_nonnull<StringAttr>(entries.get("by")))
    return op->emitError() << "'" << kTileAttr << "' does not say who multiplies; wanted: 'by', a string, such as in "
                           << kExample;
  for (NamedAttribute entry : entries)
    if (entry.getName() != "by" && !isa<IntegerAttr>(entry.getValue()))
      return op->emitError() << "'" << kTileAttr << "': '" << entry.getName().getValue() << "' is " << entry.getValue()
                             << "; wanted: a number, such as in " << kExample;
  return success();
}

/// A private function that nobody calls goes away, with all that is in it.
bool isInDeadFunction(Operation *op, ModuleOp module) {
  Operation *function = op;
  while (function->getParentOp() && function->getParentOp() != module)
    function = function->getParentOp();
  auto symbol = dyn_cast<SymbolOpInterface>(function);
  return symbol && symbol.isPrivate() && SymbolTable::symbolKnownUseEmpty(function, module);
}

} // namespace

LogicalResult readTilePins(ModuleOp module) {
  SmallVector<Operation *> pinned;
  module.walk([&](Operation *op) {
    if (op->hasAttr(kTileAttr) && yieldedBy(op->getParentOp()) != op) // else it is where it belongs
      pinned.push_back(op);
  });
  if (pinned.empty())
    return success();
  SmallVector<Attribute> places;
  bool isGood = true;
  for (Operation *op : pinned) {
    Attribute pin = op->removeAttr(kTileAttr);
    Operation *carrier = yieldedBy(op);
    if (!carrier) {
      op->emitError() << "'" << kTileAttr << "' says how a contraction of linalg is computed, and this is '"
                      << op->getName() << "', which is none";
      isGood = false;
      continue;
    }
    if (failed(verifyForm(op, pin))) {
      isGood = false;
      continue;
    }
    NamedAttrList entries(cast<DictionaryAttr>(pin));
    const LocationAttr place = op->getLoc();
    entries.set(kPlace, place);
    carrier->setAttr(kTileAttr, entries.getDictionary(module.getContext()));
    if (!isInDeadFunction(op, module))
      places.push_back(place);
  }
  module->setAttr(kTilePlacesAttr, ArrayAttr::get(module.getContext(), places));
  return success(isGood);
}

DictionaryAttr tilePinOf(Operation *op) {
  Operation *carrier = yieldedBy(op);
  auto pin = carrier ? carrier->getAttrOfType<DictionaryAttr>(kTileAttr) : DictionaryAttr();
  if (!pin)
    return {};
  NamedAttrList entries(pin);
  entries.erase(kPlace);
  return entries.getDictionary(op->getContext());
}

LogicalResult setTilePin(Operation *op, DictionaryAttr pin) {
  Operation *carrier = yieldedBy(op);
  if (carrier)
    carrier->setAttr(kTileAttr, pin);
  return success(carrier != nullptr);
}

void dropTilePin(Operation *op) {
  for (Region &region : op->getRegions())
    region.walk([](Operation *inner) { inner->removeAttr(kTileAttr); });
}

Attribute takeTilePlace(Operation *op) {
  Operation *carrier = yieldedBy(op);
  auto pin = carrier ? carrier->getAttrOfType<DictionaryAttr>(kTileAttr) : DictionaryAttr();
  if (!pin || !pin.contains(kPlace))
    return {};
  carrier->setAttr(kTileAttr, tilePinOf(op));
  return pin.get(kPlace);
}

LogicalResult checkTilePlaces(ModuleOp module, const llvm::DenseSet<Attribute> &arrived) {
  auto places = module->getAttrOfType<ArrayAttr>(kTilePlacesAttr);
  if (!places)
    return success();
  bool isGood = true;
  for (Attribute place : places) {
    if (arrived.contains(place))
      continue;
    isGood = false;
    emitError(cast<LocationAttr>(place))
        << "'" << kTileAttr << "' has no effect here: no kernel computes this contraction as it stands (nothing reads "
        << "it, it is part of an attention or of the fallback of a kernel, or it is computed in another form)";
  }
  module->removeAttr(kTilePlacesAttr);
  return success(isGood);
}

} // namespace tenon::compiler
