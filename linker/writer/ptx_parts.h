// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX that holds many kernels, divided into images of few. A driver compiles the whole of an image when it loads it: a
// softmax of unknown size has 16 kernels of 36,000 lines between them, of which a call runs one to three. So that a
// device for which there is only PTX compiles what runs, generated PTX is stored in parts.
//
// A part is the text without the kernels of other parts, and without what only those reach. Kernels that share a
// variable with memory of its own stay together, since each module has its own copy.
#pragma once

#include "linker/passes/link_context.h"

#include <string>
#include <vector>

namespace tenon::linker {

struct PtxPart {
  std::vector<const Kernel *> kernels; // at least one; ascending export ordinal
  std::string text;                    // empty: the object's, which holds nothing else
};

/// Which parts `object` is stored in; `kernels` are those of it that a variant provides. What was written by hand is
/// one part, as it is.
std::vector<PtxPart> dividePtx(const Object &object, const std::vector<const Kernel *> &kernels);

} // namespace tenon::linker
