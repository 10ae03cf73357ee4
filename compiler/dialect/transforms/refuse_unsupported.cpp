// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What users write that the rest of the compiler does not take yet. Each is refused by name, all of them at once.
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/transforms/normalize.h"
#include "support/text/nearest_names.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tenon::compiler {

namespace {
class Refusal {
public:
  LogicalResult run(ModuleOp module) {
    checkDevices(module);
    module.walk([&](Operation *op) {
      if (op->hasAttr("stream.affinity"))
        refuse(op, "'stream.affinity' (a program on several devices)");
      checkFallback(op);
      llvm::TypeSwitch<Operation *>(op)
          .Case([&](hal::ExecutableConditionOp op) { refuse(op, "'hal.executable.condition'"); })
          .Case([&](hal::ExecutableConstantBlockOp op) { refuse(op, "'hal.executable.constant.block'"); })
          .Case([&](hal::ExecutableConstantLoadOp op) { refuse(op, "'hal.executable.constant.load'"); })
          .Case([&](hal::DeviceQueryOp op) { refuse(op, "'hal.device.query'"); })
          .Case([&](hal::ExecutableVariantOp op) { checkVariant(op); })
          .Case([&](hal::ExecutableSourceOp op) { checkSource(op); })
          .Case([&](hal::ExecutableExportOp op) { checkExport(op); })
          .Case([&](hal::DispatchExternOp op) { checkExtern(op); })
          .Case([&](flow::DispatchOp op) { checkDispatch(op); });
    });
    return success(ok_);
  }

private:
  bool ok_ = true;
  llvm::DenseSet<std::pair<Attribute, Attribute>> reportedTargets_;

  InFlightDiagnostic error(Operation *op) {
    ok_ = false;
    return op->emitError();
  }
  void refuse(Operation *op, const Twine &what) { error(op) << what << " is not compiled yet"; }

  void checkFallback(Operation *op) {
    Attribute fallback = op->getAttr(kFallbackAttr);
    if (!fallback)
      return;
    if (!isa<hal::ExecutableExportOp, hal::DispatchExternOp>(op))
      error(op) << "'" << kFallbackAttr << "' is found on '" << op->getName()
                << "', it is wanted on hal.executable.export or hal.dispatch.extern: it belongs to the kernel";
    else if (!isa<FlatSymbolRefAttr>(fallback))
      error(op) << "'" << kFallbackAttr << "' = " << fallback << " is found, a function (@name) is wanted";
  }

  void checkDevices(ModuleOp module) {
    auto devices = module->getAttrOfType<ArrayAttr>("hal.device.targets");
    if (!devices)
      return;
    for (auto device : devices.getAsRange<hal::DeviceTargetAttr>()) {
      if (device.getDeviceId() != "cuda")
        error(module) << "device target '" << device.getDeviceId().getValue() << "' is found, 'cuda' is wanted";
      for (hal::ExecutableTargetAttr target : device.getTargets())
        checkTarget(module, target);
    }
  }

  // A wrong back end is said once, where it is first named: targets and the objects for them all have it.
  void checkTarget(Operation *op, hal::ExecutableTargetAttr target) {
    if (target.getBackend() == "cuda" && target.getFormat() == "cuda-nvptx-fb")
      return;
    ok_ = false;
    if (reportedTargets_.insert({target.getBackend(), target.getFormat()}).second)
      error(op) << "executable target \"" << target.getBackend().getValue() << "\", \"" << target.getFormat().getValue()
                << "\" is found, \"cuda\", \"cuda-nvptx-fb\" is wanted, as in #hal.executable.target<\"cuda\", "
                << "\"cuda-nvptx-fb\", {target_arch = \"sm_80\"}>";
  }

  void checkLayout(Operation *op, StringRef name, hal::PipelineLayoutAttr layout) {
    if (layout.getIndirect())
      refuse(op, "an Indirect layout ('" + name + "')");
    for (auto [i, binding] : llvm::enumerate(layout.getBindings()))
      if (binding.getIndirect())
        refuse(op, "an Indirect binding (binding " + Twine(i) + " of '" + name + "')");
  }

  // No pass reads an attribute without a dialect's prefix: it is likely misspelt.
  void checkAttributes(Operation *op, StringRef name, StringRef wanted) {
    const std::vector<std::string> known = {"workgroup_size", "subgroup_size", "workgroup_local_memory"};
    for (NamedAttribute attribute : op->getDiscardableAttrs()) {
      const StringRef found = attribute.getName().getValue();
      if (found.contains('.'))
        continue;
      InFlightDiagnostic message = error(op);
      message << "'" << name << "' has unknown attribute '" << found << "', " << wanted << " is wanted";
      if (std::vector<std::string> near = nearestNames(std::string_view(found), known, 1);
          !near.empty() && wanted == kLaunchAttributes)
        message << ": did you mean '" << near.front() << "'?";
    }
  }
  static constexpr StringRef kLaunchAttributes = "workgroup_size, subgroup_size or workgroup_local_memory";

  void checkSource(hal::ExecutableSourceOp op) {
    if (hal::ExecutableObjectsAttr objects = op.getObjectsAttr())
      for (auto target : objects.getTargets().getAsRange<hal::ExecutableTargetAttr>())
        checkTarget(op, target);
  }

  void checkVariant(hal::ExecutableVariantOp op) {
    checkTarget(op, op.getTarget());
    for (auto module : op.getBody().getOps<ModuleOp>())
      refuse(module, "a module inside 'hal.executable.variant'");
  }

  void checkExport(hal::ExecutableExportOp op) {
    if (!op.getCondition().empty())
      refuse(op, "a condition of an export ('" + op.getSymName() + "')");
    checkLayout(op, op.getSymName(), op.getLayout());
    checkInterfaceBindings(op, op->getAttr("hal.interface.bindings"), op.getLayout().getBindings().size());
    checkAttributes(op, op.getSymName(), kLaunchAttributes);
  }

  void checkExtern(hal::DispatchExternOp op) {
    for (Region &condition : op.getTargetConditions())
      if (!condition.empty())
        refuse(op, "a condition of an object ('if' in '" + op.getExportName() + "')");
    for (auto target : op.getTargets().getAsRange<hal::ExecutableTargetAttr>())
      checkTarget(op, target);
    checkLayout(op, op.getExportName(), op.getLayout());
    checkInterfaceBindings(op, op.getBindingsAttr(), op.getLayout().getBindings().size());
    checkAttributes(op, op.getExportName(), kLaunchAttributes);
  }

  void checkDispatch(flow::DispatchOp op) {
    size_t bindings = op.tensorArguments().size() + op.untiedResults().size();
    checkInterfaceBindings(op, op->getAttr("hal.interface.bindings"), bindings);
    checkAttributes(op, "flow.dispatch", "tied_operands");
  }

  // Older files may map operands to bindings; the map by position is the only one taken.
  void checkInterfaceBindings(Operation *op, Attribute attribute, size_t count) {
    if (!attribute)
      return;
    auto list = dyn_cast<ArrayAttr>(attribute);
    bool byPosition = list && list.size() == count;
    for (size_t i = 0; byPosition && i < count; ++i) {
      auto binding = dyn_cast<hal::InterfaceBindingAttr>(list[i]);
      byPosition = binding && binding.getSet() == 0 && binding.getBinding() == i;
    }
    if (!byPosition)
      error(op) << "interface bindings " << attribute << " are found, bindings by position (<0, 0>, <0, 1>, ..) are "
                << "wanted: order the operands as the kernel's parameters";
  }
};
} // namespace

LogicalResult refuseUnsupported(ModuleOp module) {
  return Refusal().run(module);
}

} // namespace tenon::compiler
