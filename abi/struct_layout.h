// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A C struct that a kernel takes by value: where its members lie.
#pragma once

#include "abi/element_type.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tenon::abi {

struct StructLayout {
  std::vector<uint32_t> offsets; // [members] bytes
  uint32_t size = 0;             // bytes, with the padding behind the last member
  uint32_t alignment = 1;        // bytes
};

/// Each member at the next multiple of its size; the whole a multiple of the largest (kernel_abi.md, K-3).
/// @param members  element types that have a size
StructLayout structMembers(std::span<const ElementType> members);

} // namespace tenon::abi
