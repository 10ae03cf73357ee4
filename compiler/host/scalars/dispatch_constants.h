// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words that a dispatch passes for its constants (abi/kernel_abi.md, "Constants"), as registers: a scalar's own,
// the members of a struct put together, the extents of a tensor map's tensor.
#pragma once

#include "compiler/dialect/hal/HalAttrs.h"
#include "compiler/host/program/program.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tenon::compiler::host {

/// @param scalars [constantOperandsOf(layout)] registers, in order
/// @param shapeOf the shape of the tensor in a binding
std::vector<Register> constantWords(RegisterProgram &registers, hal::PipelineLayoutAttr layout,
                                    llvm::ArrayRef<Register> scalars,
                                    llvm::function_ref<llvm::ArrayRef<Register>(unsigned binding)> shapeOf);

} // namespace tenon::compiler::host
