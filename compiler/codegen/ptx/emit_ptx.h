// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a module in the LLVM and NVVM dialects to PTX text, in process: translate to LLVM IR, link libdevice where a
// `__nv_` function is called, optimise, print. One call per target; the module is only read.
//
// PTX ISA version: the lowest that the target allows, but not below 6.3 (drivers from 2018 on): nothing that is
// generated here needs more, and a lower version loads on more drivers. Floating-point is IEEE: no contraction across
// operations, no flush to zero, correctly rounded division and square root.
#pragma once

#include "abi/target_arch.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace mlir {
class DialectRegistry;
}

namespace tenon::compiler::codegen {

struct PtxOptions {
  std::string cudaPath; // root of a CUDA toolkit, for libdevice; empty: searched for (ptx/libdevice.h)
};

/// ISA version of the PTX that is generated for `arch`, 10 * major + minor; 0 for an unknown architecture.
uint16_t generatedIsa(abi::TargetArch arch);

/// Emits `module` for one target. Errors go to the module's diagnostics: unknown target, libdevice missing or
/// unreadable (at the operation that needs it), anything the back end refuses.
/// @param arch one of abi::knownArchs()
mlir::FailureOr<std::string> emitPtx(mlir::ModuleOp module, abi::TargetArch arch, const PtxOptions &options);

/// Registers what emitPtx needs of MLIR (dialects and their translations).
void registerPtxTranslation(mlir::DialectRegistry &registry);

} // namespace tenon::compiler::codegen
