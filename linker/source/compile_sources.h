// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA sources of a job become PTX, before the link: each is compiled once per target that it is declared for, or taken
// from the cache where nothing that it is made from has changed.
#pragma once

#include "linker/job/link_job.h"

#include <string_view>

namespace tenon::linker {

/// Whether a file given as an object is CUDA source: by its name (.cu), else by its text.
bool isCudaSource(std::string_view path, std::string_view bytes);

/// Replaces every source among job.objects by one PTX object per target, named `kernels.cu:sm_80.ptx`, and adds the
/// headers that it read to job.inputFiles. Errors (K-23): no compiler, what the compiler says with its places, a source
/// without a target. With an error the job is incomplete.
void compileSources(LinkJob &job, Diagnostics &diagnostics);

} // namespace tenon::linker
