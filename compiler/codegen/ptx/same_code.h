// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Targets whose code is the same. Most kernels use nothing that came after sm_75: their PTX differs between sm_75 and
// sm_90a in its first lines and in the wait for earlier launches alone, and LLVM's work, which is most of a
// compilation, need not be done for each.
#pragma once

#include "abi/target_arch.h"
#include "compiler/codegen/ptx/rewrites/early_launch.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace tenon::compiler::codegen {

/// The oldest target for which LLVM makes of `module`, in the LLVM dialect, the code that it makes for `arch`, but for
/// waits that are written into it (waitsToWrite). `arch`
/// itself where that is not known: with types and operations for which later targets have instructions of their own.
abi::TargetArch oldestWithSameCode(mlir::ModuleOp module, abi::TargetArch arch);

/// What is to be written into the PTX of `module` once LLVM has made it: the waits of a target that has them, where the
/// code is otherwise that of targets without. None where there are no waits, or LLVM writes them.
std::optional<PlainWaits> waitsToWrite(mlir::ModuleOp module, abi::TargetArch arch);

/// `ptx`, which was made for another target with the same code, as it is made for `arch`.
std::string retargetPtx(llvm::StringRef ptx, abi::TargetArch arch);

} // namespace tenon::compiler::codegen
