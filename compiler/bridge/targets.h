// The architectures that a module is compiled for.
//
// In this order: `hal.device.targets` of the module; else the targets that its executables' objects name; else
// --target; else sm_75, whose PTX runs on every later device.
#pragma once

#include "abi/target_arch.h"
#include "compiler/dialect/hal/HalOps.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace tenon::compiler::bridge {

struct ModuleTarget {
  hal::ExecutableTargetAttr key; // what objects are matched with
  abi::TargetArch arch;
};

/// Targets of `module`, each architecture once, in the order named.
/// @param fallback what --target named
/// Errors, at the module or the executable: a device other than cuda, an architecture that is missing or not known (the
/// known ones are listed).
mlir::FailureOr<std::vector<ModuleTarget>> findTargets(mlir::ModuleOp module,
                                                       const std::vector<abi::TargetArch> &fallback);

/// Whether hal.device.targets or an executable's objects decide, so that --target has no say.
bool namesTargets(mlir::ModuleOp module);

} // namespace tenon::compiler::bridge
