// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A declaration as a CUDA header: prototypes and what tenon/kernel.cuh needs to check the kernels that implement them.
#pragma once

#include "linker/job/link_job.h"

#include <string>
#include <vector>

namespace tenon::linker {

/// The text of a header for the exports of `job`.
/// @param signatures  by export: C++ types of its parameters; where they are known, the header has a prototype with
///                    launch bounds. Else it checks what the layout tells: pointers to const, widths, kinds.
/// @param source      what the declarations come from, for the comment at its top: "kernels.json"
std::string writeHeader(const LinkJob &job, const std::vector<std::vector<std::string>> &signatures,
                        const std::string &source);

} // namespace tenon::linker
