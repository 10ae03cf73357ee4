// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state space that an instruction names among its modifiers.
#pragma once

#include "emulator/decode/form.h"

#include <optional>

namespace tenon::emulator {

/// Nothing: it names none, and its addresses are generic.
std::optional<MemorySpace> takeSpace(Form &form);

} // namespace tenon::emulator
