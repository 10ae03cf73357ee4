// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IREE's newer modules hold their device as a global, and name it wherever something runs on it.
#include "compiler/dialect/hal/HalAttrs.h"
#include "compiler/dialect/util/UtilOps.h"
#include "compiler/input/steps/steps.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

constexpr StringLiteral kDeviceTargets = "hal.device.targets";
constexpr StringLiteral kAffinity = "stream.affinity", kDefaultAffinity = "stream.affinity.default";

/// `util.global @device = #hal.device.target<..> : !hal.device` and the affinities that name it.
class Devices {
public:
  explicit Devices(ModuleOp module) : module_(module) {}

  LogicalResult run() {
    SmallVector<Attribute> targets;
    for (auto global : llvm::make_early_inc_range(module_.getOps<util::GlobalOp>())) {
      if (!isa<hal::DeviceType>(global.getType()))
        continue;
      auto target = dyn_cast_or_null<hal::DeviceTargetAttr>(global.getInitialValueAttr());
      if (!target)
        return global.emitError() << "device '@" << global.getSymName() << "' has "
                                  << (global.getInitialValueAttr() ? "another value" : "no value")
                                  << ", #hal.device.target<\"cuda\", [..]> : !hal.device is wanted";
      names_.push_back(global.getSymNameAttr());
      targets.push_back(target);
      global.erase();
    }
    if (targets.size() > 1)
      return module_.emitError() << "the module has " << targets.size()
                                 << " devices, one is wanted: programs on several devices are not compiled yet";
    if (!targets.empty()) {
      if (module_->hasAttr(kDeviceTargets))
        return module_.emitError() << "devices are given twice: as '" << kDeviceTargets
                                   << "' and as a global of type !hal.device; keep one";
      module_->setAttr(kDeviceTargets, ArrayAttr::get(module_.getContext(), targets));
    }
    module_.walk([&](Operation *op) { dropAffinity(op); });
    return success();
  }

private:
  /// An affinity to the one device says nothing; others are refused later, by name.
  void dropAffinity(Operation *op) {
    for (StringLiteral name : {kAffinity, kDefaultAffinity})
      if (auto affinity = op->getAttrOfType<hal::DeviceAffinityAttr>(name);
          affinity && llvm::is_contained(names_, affinity.getDevice().getAttr()))
        op->removeAttr(name);
  }

  ModuleOp module_;
  SmallVector<StringAttr> names_;
};

} // namespace

LogicalResult readDevices(ModuleOp module) {
  return Devices(module).run();
}

} // namespace tenon::compiler::input
