// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From attributes and operations of hal to the value types of abi/: what code generation, the host program and the
// bridge to the linker ask of a declaration. Call on verified, normalized modules.
#pragma once

#include "abi/layout.h"
#include "abi/target_arch.h"
#include "compiler/dialect/hal/HalAttrs.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringSet.h"

namespace mlir {
class ModuleOp;
}

namespace tenon::compiler {

namespace hal {
class ExecutableExportOp;
}

// On an export or an extern dispatch: the function that computes what the hand-written kernel does, for devices that
// none of its objects serves. On the module inside a source: its kernels are such fallbacks.
inline constexpr llvm::StringLiteral kFallbackAttr = "tenon.fallback";
// On an export or an extern dispatch: how many workgroups, along each axis, are a cluster.
inline constexpr llvm::StringLiteral kClusterAttr = "tenon.cluster";
// On a source: the generated objects of its fallbacks, as `objects` are the hand-written ones.
inline constexpr llvm::StringLiteral kFallbackObjectsAttr = "tenon.fallback_objects";

/// Functions that exports of the module name as their fallback.
llvm::StringSet<> fallbackFunctionsOf(mlir::ModuleOp module);

/// The element type of a scalar type; nothing for types that no kernel takes (i1, i8, .., f64, index are known).
std::optional<abi::ElementType> elementTypeOf(mlir::Type type);

/// A scalar that a dispatch passes: a constant, or a member of one that is a tuple. A tensor map is passed none.
struct ConstantOperand {
  unsigned constant = 0;
  mlir::Type type; // null: a word
};
llvm::SmallVector<ConstantOperand> constantOperandsOf(hal::PipelineLayoutAttr layout);

/// Bindings and constants as declared; `constants = N` gives N words.
abi::Layout layoutOf(hal::PipelineLayoutAttr layout);

/// The architecture that `target_arch` names. Without it or with an unknown one: `emitError` reports it, with the list
/// of known architectures, and the result is failure.
mlir::FailureOr<abi::TargetArch> targetArchOf(hal::ExecutableTargetAttr target,
                                              llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
/// The same without a message.
mlir::FailureOr<abi::TargetArch> targetArchOf(hal::ExecutableTargetAttr target);

/// #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
hal::ExecutableTargetAttr cudaTarget(mlir::MLIRContext *context, abi::TargetArch arch);

/// Targets the module is compiled for, each once, in the order written: those of `hal.device.targets`, else those that
/// objects of its executables are keyed by and that name an architecture, else `fallback` (--target=).
llvm::SmallVector<hal::ExecutableTargetAttr> targetsOf(mlir::ModuleOp module,
                                                       llvm::ArrayRef<hal::ExecutableTargetAttr> fallback = {});

/// Whether the module is compiled for `arch` and for no other target.
bool isForOnly(mlir::ModuleOp module, abi::TargetArch arch);

/// An export with layout, launch attributes and place. Ordinal and workgroup_size are present after normalization.
abi::Export exportOf(hal::ExecutableExportOp op);

/// The first file:line:column of a location; unknown when it has none.
SourceLocation sourceLocationOf(mlir::Location location);

} // namespace tenon::compiler
