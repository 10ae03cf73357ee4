// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several PTX modules become one: separately compiled objects (nvcc -rdc=true) that use each other's functions and
// variables. The driver could link them at load time; done here, the proofs hold for what really runs.
#pragma once

#include "linker/object/object.h"

#include <optional>
#include <span>

namespace tenon::linker {

struct MergedText {
  std::string text;
  std::vector<LineOrigin> lines; // by line - 1
};

/// Merges `objects` (two or more, one target, no name defined twice), in that order: each contributes its own lines,
/// minus headers, debug information and declarations that are met. Private names that collide get a suffix. Nothing,
/// after K-10 was reported: a declaration differs from its definition, an object has aliases or target options, or a
/// variable that must move to the front has an initialiser with addresses in it.
std::optional<MergedText> mergePtx(std::span<const Object *const> objects, Diagnostics &diagnostics);

} // namespace tenon::linker
