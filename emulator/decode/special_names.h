// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What special registers of 32 bits are called in PTX.
#pragma once

#include "emulator/machine/decoded_kernel.h"

#include <optional>
#include <string_view>

namespace tenon::emulator {

/// "%tid.x"; nothing for other names, and for registers of other kinds (%clock64, %is_explicit_cluster).
std::optional<Special> findSpecial(std::string_view name);
/// The offset that %reserved_smem_offset_... names.
std::optional<uint32_t> findReservedShared(std::string_view name);
/// A special register of PTX that the emulator does not have.
bool isOtherSpecial(std::string_view name);

} // namespace tenon::emulator
