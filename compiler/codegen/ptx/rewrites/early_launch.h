// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of sm_90 and later are launched while the one before them in the stream still ends (programmatic
// dependent launch). A launch takes some microseconds, which for a small kernel is most of its time.
//
// Each kernel begins with the wait for all that was launched before: its end, and all that it has written. The next one
// is launched when the last block has ended; what is saved is what passes between that and the end of the kernel, and
// the launch. Kernels of few blocks have it launched when they begin (codegen/decisions/early_launches.h says which),
// behind the wait: so no more than two kernels of a stream run at once, and what one may keep in a cache of its
// multiprocessor is dropped before the kernel behind the next one begins.
#pragma once

#include "abi/target_arch.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace llvm {
class Module;
}
namespace mlir {
class ModuleOp;
namespace LLVM {
class LLVMFuncOp;
}
} // namespace mlir

namespace tenon::compiler::codegen {

inline constexpr llvm::StringLiteral kWaitForEarlierLaunches = "griddepcontrol.wait;";
inline constexpr llvm::StringLiteral kLaunchNext = "griddepcontrol.launch_dependents;";

/// Where a launch of the kernel has no more blocks than that, 0: always, it has the next kernel launched when it
/// begins. Asked for here, written by waitForEarlierLaunches().
void launchNextEarly(mlir::LLVM::LLVMFuncOp kernel, uint32_t mostBlocks);

/// Puts the wait at the beginning of all kernels of the module that do not have it elsewhere, where the target has it.
void waitForEarlierLaunches(llvm::Module &device, abi::TargetArch arch);

/// What the kernels of a module begin with, where that is the same few lines whatever else they do: by name, whether
/// the wait is followed by the launch of the next kernel. Such lines may be written into PTX that was made without
/// them, so that targets with and without them share it (same_code.h).
using PlainWaits = llvm::StringMap<bool>;

/// None: a kernel says itself where it waits, or launches the next one under a condition.
std::optional<PlainWaits> plainWaitsOf(mlir::ModuleOp module);

/// `ptx` with them, where waitForEarlierLaunches() puts them: in front of the first instruction of a kernel that is no
/// load of a parameter.
std::string writeWaits(llvm::StringRef ptx, const PlainWaits &waits);

} // namespace tenon::compiler::codegen
