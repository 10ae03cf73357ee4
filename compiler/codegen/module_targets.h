// Which architectures a module is compiled for: those of `hal.device.targets`; else those that its executables' objects
// name; else those asked for on the command line; else sm_75, whose PTX runs on every later device.
#pragma once

#include "abi/target_arch.h"
#include "compiler/dialect/hal/HalAttrs.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace tenon::compiler::codegen {

struct ModuleTarget {
  hal::ExecutableTargetAttr attribute;
  abi::TargetArch arch;
};

/// The targets of `module`, each once, in the order written. A target without a known `target_arch` is an error that
/// lists the known ones.
/// @param fallback names ("sm_80") for a module that names none; may be empty
mlir::FailureOr<llvm::SmallVector<ModuleTarget>> moduleTargets(mlir::ModuleOp module,
                                                               const std::vector<std::string> &fallback);

} // namespace tenon::compiler::codegen
