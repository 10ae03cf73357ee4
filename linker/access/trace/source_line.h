// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From an instruction back to the line of the source it was compiled from, where the object was built with -lineinfo or
// -G.
#pragma once

#include "ptx/module.h"
#include "support/diagnostics.h"

#include <optional>

namespace tenon::linker {

/// The `.loc` that holds for an instruction: the last one before it in the body. Source: PTX ISA, "Debugging
/// Directives".
std::optional<SourceLocation> sourceLine(const ptx::Module &module, const ptx::Function &function,
                                         uint32_t instruction);

} // namespace tenon::linker
