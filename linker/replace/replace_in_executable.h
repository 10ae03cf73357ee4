// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of replace.h that works on one executable.
#pragma once

#include "abi/format/views/executable_view.h"
#include "linker/replace/replacement.h"

namespace tenon::linker {

/// `executable` with the kernel of export `ordinal` replaced. Errors as replaceKernel.
Result<std::vector<uint8_t>> replaceInExecutable(const abi::ExecutableView &executable, uint32_t ordinal,
                                                 const Replacement &replacement, Diagnostics &diagnostics);

} // namespace tenon::linker
