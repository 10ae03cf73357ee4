// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One kernel of a built executable or program made new, without the rest: `tenon-link --replace saxpy=new.ptx`. The new
// object is proved against the declaration that the file holds, by the same rules as in a link, and against the
// variants that stay (K-15).
#pragma once

#include "linker/replace/replacement.h"

#include "support/diagnostics.h"
#include "support/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tenon::linker {

/// The file with the export's kernel replaced in the variants for the targets of the new objects. Every other kernel,
/// variant, function and constant stays as it is; an image that nothing uses any more goes. Findings go to
/// `diagnostics`; with an error among them the status says how many. NotFound: no such export, or no variant for a
/// target; the status lists what there is. DataLoss: the file does not verify.
Result<std::vector<uint8_t>> replaceKernel(std::span<const uint8_t> file, const std::string &path,
                                           const Replacement &replacement, Diagnostics &diagnostics);

} // namespace tenon::linker
