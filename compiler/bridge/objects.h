// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an executable source and its object attributes say.
#pragma once

#include "compiler/dialect/hal/HalOps.h"

#include <optional>
#include <string>

namespace tenon::compiler::bridge {

/// Whether the compiler made the executable, rather than a user.
bool isGenerated(hal::ExecutableSourceOp source);

/// Generated objects beside the hand-written ones, for exports with a fallback; null where there are none.
hal::ExecutableObjectsAttr fallbackObjects(hal::ExecutableSourceOp source);

/// The bytes that `data = dense<...>` holds; nothing where there is none or it is not dense i8.
std::optional<std::string> inlineBytes(hal::ExecutableObjectAttr object);

} // namespace tenon::compiler::bridge
