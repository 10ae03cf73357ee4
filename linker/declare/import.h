// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A first declaration for kernels that have none: what an object shows, as a manifest that links unchanged. What no
// object shows (element types, how much dynamic shared memory, often the workgroup size) is guessed and marked.
#pragma once

#include "linker/declare/manifest.h"

#include <string>
#include <vector>

namespace tenon::linker {

struct ImportOptions {
  std::vector<std::string> kernels; // names or symbols; empty: every kernel
  std::string folder;               // where the manifest will stand; paths of objects are written relative to it
};

/// Drafts a manifest for the objects of `job` (no exports yet). Kernels are read from the first object that has them; a
/// record of TENON_KERNEL is taken as it is, and what is not there for every target is left out. Guesses are warnings
/// here and comments in the text. Empty after an error: nothing to declare, a kernel that is not there, or one that
/// cannot be declared (K-8, K-19).
std::string draftManifest(const LinkJob &job, const ImportOptions &options, Diagnostics &diagnostics);

} // namespace tenon::linker
