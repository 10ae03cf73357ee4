// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of f8E4M3FN and f8E5M2, which bodies read as bytes and widen by arith.extf (input/types/storage.h). From
// sm_89 on an instruction makes two f16 of two bytes, exactly: of both at once, where they lie side by side in a
// vector. Before, it is arithmetic on their bits.
#pragma once

#include "abi/target_arch.h"

#include "mlir/IR/BuiltinOps.h"

namespace tenon::compiler::codegen {

/// Whether there are values of these types in the kernels: their code differs between targets with and without
/// instructions for them.
bool readsF8(mlir::ModuleOp kernels);
/// Of a target: conversions, and mma.sync.
bool hasF8(const abi::TargetArch &target);

/// Replaces every arith.extf of such a value.
/// @param hasInstructions hasF8() of all targets that the module is for
void widenF8(mlir::ModuleOp module, bool hasInstructions);

} // namespace tenon::compiler::codegen
