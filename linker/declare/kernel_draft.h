// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One kernel's declaration, as far as its code shows it (import.h): parameters in the order in which they stand,
// pointers in structs among them, what is written, alignment, threads, shared memory. What rests on a guess is said,
// with the guess: a warning, and a comment above the declaration.
#pragma once

#include "linker/declare/declaration.h"
#include "linker/object/object.h"
#include "support/diagnostics.h"

#include <optional>
#include <string>
#include <vector>

namespace tenon::linker {

class ModuleTracer;

struct KernelDraft {
  Declaration declaration;
  std::vector<std::string> notes; // "unsure: ...", or why there is none
};

/// Drafts `entry`, a kernel with a body of object.module. Guesses become warnings. No kernel that runs can be declared:
/// `reason` says why, for the caller to make an error or a warning of.
std::optional<KernelDraft> draftKernel(const Object &object, const ptx::Function &entry, ModuleTracer &tracer,
                                       Diagnostics &diagnostics, Diagnostic &reason);

} // namespace tenon::linker
