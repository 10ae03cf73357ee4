// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a context without findings to the bytes of a TNX1 file. Specification: abi/executable_format.md.
#pragma once

#include "linker/passes/link_context.h"

namespace tenon::linker {

/// The executable: exports, images, and one variant of the file per object that provides kernels. Internal: the result
/// does not verify, which is a bug here.
Result<std::vector<uint8_t>> writeExecutable(const LinkContext &context);

} // namespace tenon::linker
