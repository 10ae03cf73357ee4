// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the address of a variable or of a function is, for code that takes it.
#pragma once

#include "ptx/module.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace tenon::emulator {

/// Device address of a module variable (.global or .const); nothing for other names.
using VariableAddress = std::function<std::optional<uint64_t>(std::string_view)>;

/// The "address" of a function, as mov and initialisers see it; 0: no such function.
uint64_t functionAddress(const ptx::Module &module, std::string_view name);

} // namespace tenon::emulator
