#include "compiler/codegen/module_targets.h"

#include "compiler/dialect/hal/HalOps.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr StringLiteral kDeviceTargets = "hal.device.targets";
constexpr StringLiteral kArchKey = "target_arch";
constexpr StringLiteral kDefaultTarget = "sm_75";

hal::ExecutableTargetAttr targetNamed(MLIRContext *context, StringRef name) {
  Builder b(context);
  return hal::ExecutableTargetAttr::get(context, b.getStringAttr("cuda"), b.getStringAttr("cuda-nvptx-fb"),
                                        b.getDictionaryAttr(b.getNamedAttr(kArchKey, b.getStringAttr(name))));
}

/// Targets as written, without duplicates.
FailureOr<SetVector<Attribute>> collectTargets(ModuleOp module, const std::vector<std::string> &fallback) {
  SetVector<Attribute> targets;
  if (Attribute devices = module->getAttr(kDeviceTargets)) {
    auto list = dyn_cast<ArrayAttr>(devices);
    for (Attribute entry : list ? list.getValue() : ArrayRef<Attribute>()) {
      auto device = dyn_cast<hal::DeviceTargetAttr>(entry);
      if (!device)
        return module.emitError() << "'" << kDeviceTargets << "' holds " << entry
                                  << ", supported is #hal.device.target<...>";
      targets.insert_range(device.getTargets());
    }
  }
  if (targets.empty())
    for (auto source : module.getOps<hal::ExecutableSourceOp>())
      if (hal::ExecutableObjectsAttr objects = source.getObjectsAttr())
        targets.insert_range(objects.getTargets());
  if (targets.empty())
    for (const std::string &name : fallback)
      targets.insert(targetNamed(module.getContext(), name));
  if (targets.empty())
    targets.insert(targetNamed(module.getContext(), kDefaultTarget));
  return targets;
}

} // namespace

FailureOr<SmallVector<ModuleTarget>> moduleTargets(ModuleOp module, const std::vector<std::string> &fallback) {
  FailureOr<SetVector<Attribute>> targets = collectTargets(module, fallback);
  if (failed(targets))
    return failure();
  SmallVector<ModuleTarget> result;
  for (Attribute attribute : *targets) {
    auto target = cast<hal::ExecutableTargetAttr>(attribute);
    DictionaryAttr configuration = target.getConfiguration();
    auto name = configuration ? configuration.getAs<StringAttr>(kArchKey) : StringAttr();
    if (!name)
      return module.emitError() << "target " << target << " has no '" << kArchKey
                                << "'; known targets: " << abi::knownArchList();
    std::optional<abi::TargetArch> arch = abi::parseTargetArch(name.getValue());
    if (!arch || !abi::findArch(*arch))
      return module.emitError() << "unknown target '" << name.getValue()
                                << "'; known targets: " << abi::knownArchList();
    result.push_back({target, *arch});
  }
  return result;
}

} // namespace tenon::compiler::codegen
