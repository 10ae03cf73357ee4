// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects are keyed by target, and a key may be generic: it serves every target that has all of its entries. After this
// step each key names its architecture and stands once. A target's objects are those of all keys that serve it, in the
// order written; a key that serves no target of the module keeps its own entry, as code for one more architecture.
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/transforms/normalize.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tenon::compiler {

namespace {
struct Resolved {
  SmallVector<Attribute> targets, objects;
};
} // namespace

static LogicalResult resolve(hal::ExecutableSourceOp source, ArrayRef<hal::ExecutableTargetAttr> targets) {
  hal::ExecutableObjectsAttr objects = source.getObjectsAttr();
  if (!objects)
    return success();
  Builder builder(source.getContext());
  Resolved resolved;
  auto add = [&](hal::ExecutableTargetAttr target, ArrayRef<Attribute> ofTarget) {
    resolved.targets.push_back(target);
    resolved.objects.push_back(builder.getArrayAttr(ofTarget));
  };
  SmallVector<hal::ExecutableTargetAttr> unserved;
  for (hal::ExecutableTargetAttr target : targets) {
    SmallVector<Attribute> ofTarget = llvm::map_to_vector(
        objects.objectsFor(target), [](hal::ExecutableObjectAttr object) -> Attribute { return object; });
    if (ofTarget.empty())
      unserved.push_back(target);
    else
      add(target, ofTarget);
  }
  bool ok = true;
  for (auto [key, ofKey] : llvm::zip_equal(objects.getTargets().getAsRange<hal::ExecutableTargetAttr>(),
                                           objects.getTargetObjects().getAsRange<ArrayAttr>())) {
    bool serves = llvm::any_of(targets, [&](hal::ExecutableTargetAttr target) { return key.isGenericOf(target); });
    if (serves || ofKey.empty())
      continue;
    ok &= succeeded(targetArchOf(key, [&] {
      return source.emitError() << "objects of '" << source.getSymName() << "' have key " << key << ": ";
    }));
    add(key, ofKey.getValue());
  }
  // The loader still finds code: PTX for an older architecture runs on a newer one, and fallbacks run everywhere.
  auto exports = source.getBody().getOps<hal::ExecutableExportOp>();
  if (!exports.empty() && llvm::all_of(exports, [](hal::ExecutableExportOp op) { return op->hasAttr(kFallbackAttr); }))
    unserved.clear();
  for (hal::ExecutableTargetAttr target : unserved) {
    auto arch = target.getConfiguration().getAs<StringAttr>("target_arch");
    source.emitWarning() << "'" << source.getSymName() << "' has no objects for target "
                         << (arch ? arch.getValue() : StringRef("?"))
                         << " of the module: such a device takes PTX for an older one, if there is any";
  }
  source.setObjectsAttr(hal::ExecutableObjectsAttr::get(source.getContext(), builder.getArrayAttr(resolved.targets),
                                                        builder.getArrayAttr(resolved.objects)));
  return success(ok);
}

LogicalResult resolveObjects(ModuleOp module, ArrayRef<hal::ExecutableTargetAttr> fallback) {
  SmallVector<hal::ExecutableTargetAttr> targets = targetsOf(module, fallback);
  bool ok = true;
  for (hal::ExecutableTargetAttr target : targets)
    ok &= succeeded(targetArchOf(target, [&] { return module.emitError(); }));
  for (auto source : module.getOps<hal::ExecutableSourceOp>())
    ok &= succeeded(resolve(source, targets));
  if (!ok)
    return failure();
  // From here on the module says itself what it is compiled for.
  Builder builder(module.getContext());
  auto devices = module->getAttrOfType<ArrayAttr>("hal.device.targets");
  auto hasTargets = [](hal::DeviceTargetAttr device) { return !device.getTargets().empty(); };
  if (!devices || llvm::none_of(devices.getAsRange<hal::DeviceTargetAttr>(), hasTargets)) {
    Attribute device = hal::DeviceTargetAttr::get(module.getContext(), builder.getStringAttr("cuda"),
                                                  builder.getDictionaryAttr({}), targets);
    module->setAttr("hal.device.targets", builder.getArrayAttr(device));
  }
  return success();
}

} // namespace tenon::compiler
