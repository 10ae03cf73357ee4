// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a parse that keeps no bodies shows them to.
#pragma once

#include "ptx/module.h"

#include <functional>

namespace tenon::ptx {

/// Takes a body while it is there. `function` is the last of module.functions; what stands behind it in the text is
/// not yet known.
using BodyVisitor = std::function<void(const Module &module, const Function &function)>;

} // namespace tenon::ptx
