// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/editions/target_kinds.h"

#include "compiler/dialect/editions.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/hal/default_targets.h"
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dialect/tile_pins.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tenon::compiler::editions {
namespace {

constexpr StringLiteral kDevicesAttr = "hal.device.targets";

bool isHopper(hal::ExecutableTargetAttr target) {
  const FailureOr<abi::TargetArch> arch = targetArchOf(target);
  return succeeded(arch) && *arch == kHopper;
}

/// A sum over what several tensors hold, as products, convolutions and attention are.
bool isPlannedByTarget(Operation *op) {
  if (isa_and_present<linalg_ext::LinalgExtDialect>(op->getDialect()))
    return true;
  auto computed = dyn_cast<linalg::LinalgOp>(op);
  return computed && computed.getNumReductionLoops() != 0 && llvm::count_if(computed.getDpsInputs(), [](Value input) {
                                                               return isa<RankedTensorType>(input.getType());
                                                             }) > 1;
}

bool isAnyPlannedByTarget(ModuleOp module) {
  return llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
    return function
        .walk([](Operation *op) { return isPlannedByTarget(op) ? WalkResult::interrupt() : WalkResult::advance(); })
        .wasInterrupted();
  });
}

} // namespace

SmallVector<TargetKind> kindsOf(ModuleOp module) {
  const SmallVector<hal::ExecutableTargetAttr> targets = targetsOf(module);
  SmallVector<TargetKind> kinds(1);
  TargetKind hopper;
  for (hal::ExecutableTargetAttr target : targets)
    (isHopper(target) ? hopper : kinds.front()).push_back(target);
  if (hopper.empty() || kinds.front().empty() || module->hasAttr(kTilePlacesAttr) || !module->hasAttr(kDevicesAttr) ||
      !isAnyPlannedByTarget(module))
    return {targets};
  kinds.push_back(std::move(hopper));
  return kinds;
}

void restrictTo(ModuleOp module, ArrayRef<hal::ExecutableTargetAttr> kind) {
  Builder b(module.getContext());
  SmallVector<Attribute> others, devices;
  for (hal::ExecutableTargetAttr target : targetsOf(module))
    if (!llvm::is_contained(kind, target))
      others.push_back(target);
  for (auto device : module->getAttrOfType<ArrayAttr>(kDevicesAttr).getAsRange<hal::DeviceTargetAttr>()) {
    const auto kept = llvm::filter_to_vector(
        device.getTargets(), [&](hal::ExecutableTargetAttr target) { return llvm::is_contained(kind, target); });
    if (!kept.empty())
      devices.push_back(
          hal::DeviceTargetAttr::get(b.getContext(), device.getDeviceId(), device.getConfiguration(), kept));
  }
  module->setAttr(kDevicesAttr, b.getArrayAttr(devices));
  module->setAttr(kOtherTargetsAttr, b.getArrayAttr(others));
}

std::string nameOf(ArrayRef<hal::ExecutableTargetAttr> kind) {
  return llvm::join(llvm::map_range(kind,
                                    [](hal::ExecutableTargetAttr target) {
                                      const FailureOr<abi::TargetArch> arch = targetArchOf(target);
                                      return succeeded(arch) ? arch->toString() : std::string("unknown");
                                    }),
                    "_");
}

} // namespace tenon::compiler::editions
