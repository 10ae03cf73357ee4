// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a module in the LLVM and NVVM dialects to PTX text, in process: translate to LLVM IR, link libdevice where a
// `__nv_` function is called, optimise, print. One job per target; the module is only read.
//
// Nearly all the time goes into LLVM, which works on a context of its own for each job: jobs may run side by side. What
// reads MLIR (create, take) belongs to the thread that owns its context.
//
// PTX ISA version: the lowest that the target allows, but not below 6.3 (drivers from 2018 on): a lower version loads
// on more drivers. Kernels that read f8 need more where there are instructions for it, as do products of matrices on
// sm_75 and transposes of fragments on sm_80. Floating-point is IEEE: no flush to zero, correctly rounded division and
// square root; a product that only a sum takes is fused with it (ptx/rewrites/contract.h), unless told not to.
#pragma once

#include "abi/target_arch.h"
#include "compiler/codegen/ptx/rewrites/early_launch.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>

namespace mlir {
class DialectRegistry;
}

namespace tenon::compiler::codegen {

struct PtxOptions {
  std::string cudaPath;                 // root of a CUDA toolkit, for libdevice; empty: searched for (ptx/libdevice.h)
  bool contractProducts = true;         // ptx/rewrites/contract.h
  bool fastMath = false;                // ptx/rewrites/fast_math.h
  bool lineInfo = false;                // `.loc` for every instruction that has a place in the source
  bool keepLlvmIr = false;              // for PtxJob::llvmIr
  bool waitsForEarlierLaunches = false; // ptx/rewrites/early_launch.h
  std::optional<PlainWaits> waits;      // written into the PTX instead
  // Assembly may be what a whole warp does together: no way through the kernel gets a copy of its own.
  bool keepsAssemblyTogether = false;
};

/// ISA version of the PTX that is generated for `arch` where nothing asks for more, 10 * major + minor; 0 for an
/// unknown architecture.
uint16_t generatedIsa(abi::TargetArch arch);

/// Version with which all instructions of the module that `arch` has are there; 0 where that is the version of the
/// oldest target that has them.
uint16_t isaNeededBy(mlir::ModuleOp module, abi::TargetArch arch);

/// A module on its way to PTX for one target.
class PtxJob {
public:
  /// Translates `module`. Errors go to its diagnostics: unknown target, libdevice missing (at the operation that needs
  /// it).
  /// @param arch one of abi::knownArchs()
  static mlir::FailureOr<std::unique_ptr<PtxJob>> create(mlir::ModuleOp module, abi::TargetArch arch,
                                                         const PtxOptions &options);
  virtual ~PtxJob() = default;

  /// Links, optimises and prints; once, on any thread.
  virtual void run() = 0;
  /// The PTX, once it has run. Errors go to the diagnostics: libdevice is unreadable, anything the back end refuses.
  virtual mlir::FailureOr<std::string> take() = 0;
  /// The LLVM IR that was printed, once it has run; empty without PtxOptions::keepLlvmIr.
  virtual const std::string &llvmIr() const = 0;
};

/// The three steps of a job.
mlir::FailureOr<std::string> emitPtx(mlir::ModuleOp module, abi::TargetArch arch, const PtxOptions &options);

/// Registers what emitPtx needs of MLIR (dialects and their translations).
void registerPtxTranslation(mlir::DialectRegistry &registry);

} // namespace tenon::compiler::codegen
