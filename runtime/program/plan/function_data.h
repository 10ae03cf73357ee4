// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading a function's FlatBuffer: lists that may be absent, numbers that stand for nothing, blocks and their targets.
#pragma once

#include "abi/format/program_generated.h"

#include <cstdint>
#include <limits>
#include <span>

namespace tenon::runtime {

/// No register: an element that is not read back, a target without a condition, a range from the start or to the end.
inline constexpr uint32_t kNoRegister = std::numeric_limits<uint32_t>::max();

template <typename Vector> uint32_t sizeOf(const Vector *vector) {
  return vector ? vector->size() : 0;
}

/// The target that is taken; none where the block returns.
const abi::fb::Target *takenTarget(const abi::fb::Function &block, std::span<const int64_t> registers);

bool hasBlocks(const abi::fb::Function &function);
/// Whether a block of the function loads or stores a global.
bool usesGlobals(const abi::fb::Function &function);

} // namespace tenon::runtime
