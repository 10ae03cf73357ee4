#include "compiler/bridge/targets.h"

#include "llvm/ADT/STLExtras.h"

namespace tenon::compiler::bridge {
namespace {

constexpr llvm::StringLiteral kDeviceTargets = "hal.device.targets";
constexpr llvm::StringLiteral kTargetArch = "target_arch";
constexpr llvm::StringLiteral kBackend = "cuda";
constexpr llvm::StringLiteral kFormat = "cuda-nvptx-fb";
constexpr abi::TargetArch kDefaultArch{75};

/// Collects targets, each architecture once. `Key` without target_arch serves every target and names none.
class TargetCollector {
public:
  mlir::LogicalResult add(hal::ExecutableTargetAttr key, mlir::Operation *place, bool archRequired) {
    if (key.getBackend().getValue() != kBackend)
      return place->emitOpError() << "targets " << key.getBackend() << ", only \"" << kBackend << "\" is supported";
    mlir::StringAttr name;
    if (mlir::DictionaryAttr configuration = key.getConfiguration())
      name = configuration.getAs<mlir::StringAttr>(kTargetArch);
    if (!name) {
      if (!archRequired)
        return mlir::success();
      return place->emitOpError() << "names the target " << key << " without a " << kTargetArch << " such as \"sm_80\"";
    }
    std::optional<abi::TargetArch> arch = abi::parseTargetArch(name.getValue());
    if (!arch || !abi::findArch(*arch))
      return place->emitOpError() << "names the unknown target " << name << "; known: " << abi::knownArchList();
    if (llvm::none_of(targets_, [&](const ModuleTarget &target) { return target.arch == *arch; }))
      targets_.push_back({key, *arch});
    return mlir::success();
  }

  std::vector<ModuleTarget> take() { return std::move(targets_); }
  bool empty() const { return targets_.empty(); }

private:
  std::vector<ModuleTarget> targets_;
};

mlir::LogicalResult addDeviceTargets(mlir::ModuleOp module, TargetCollector &collector) {
  auto devices = module->getAttrOfType<mlir::ArrayAttr>(kDeviceTargets);
  if (!devices)
    return mlir::success();
  for (mlir::Attribute attribute : devices) {
    auto device = mlir::dyn_cast<hal::DeviceTargetAttr>(attribute);
    if (!device)
      return module.emitOpError() << "has " << attribute << " in " << kDeviceTargets
                                  << ", wanted #hal.device.target<...>";
    if (device.getDeviceId().getValue() != kBackend)
      return module.emitOpError() << "targets the device " << device.getDeviceId() << ", only \"" << kBackend
                                  << "\" is supported";
    for (hal::ExecutableTargetAttr key : device.getTargets())
      if (mlir::failed(collector.add(key, module, true)))
        return mlir::failure();
  }
  return mlir::success();
}

mlir::LogicalResult addObjectTargets(mlir::ModuleOp module, TargetCollector &collector) {
  for (auto source : module.getOps<hal::ExecutableSourceOp>()) {
    if (!source.getObjectsAttr())
      continue;
    for (mlir::Attribute key : source.getObjectsAttr().getTargets())
      if (mlir::failed(collector.add(mlir::cast<hal::ExecutableTargetAttr>(key), source, false)))
        return mlir::failure();
  }
  return mlir::success();
}

hal::ExecutableTargetAttr keyOf(mlir::MLIRContext *context, abi::TargetArch arch) {
  mlir::Builder builder(context);
  return hal::ExecutableTargetAttr::get(
      context, builder.getStringAttr(kBackend), builder.getStringAttr(kFormat),
      builder.getDictionaryAttr(builder.getNamedAttr(kTargetArch, builder.getStringAttr(arch.toString()))));
}

} // namespace

bool namesTargets(mlir::ModuleOp module) {
  if (module->hasAttr(kDeviceTargets))
    return true;
  return llvm::any_of(module.getOps<hal::ExecutableSourceOp>(),
                      [](hal::ExecutableSourceOp source) { return bool(source.getObjectsAttr()); });
}

mlir::FailureOr<std::vector<ModuleTarget>> findTargets(mlir::ModuleOp module,
                                                       const std::vector<abi::TargetArch> &fallback) {
  TargetCollector collector;
  if (mlir::failed(addDeviceTargets(module, collector)))
    return mlir::failure();
  if (collector.empty() && mlir::failed(addObjectTargets(module, collector)))
    return mlir::failure();
  std::vector<abi::TargetArch> archs = fallback;
  if (archs.empty())
    archs.push_back(kDefaultArch);
  if (collector.empty())
    for (abi::TargetArch arch : archs)
      if (mlir::failed(collector.add(keyOf(module.getContext(), arch), module, true)))
        return mlir::failure();
  return collector.take();
}

} // namespace tenon::compiler::bridge
