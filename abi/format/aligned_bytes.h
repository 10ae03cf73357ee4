// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Byte vectors at an alignment that the file format asks for (16 or 64): FlatBuffers' own ForceVectorAlignment asserts
// that it is at most 32.
#pragma once

#include "flatbuffers/flatbuffers.h"

#include <cstddef>
#include <cstdint>

namespace tenon::abi {

/// [size] bytes whose first lies at a multiple of `alignment`, a power of two, from the start of the finished buffer.
inline flatbuffers::Offset<flatbuffers::Vector<uint8_t>>
createAlignedBytes(flatbuffers::FlatBufferBuilder &builder, const uint8_t *data, size_t size, size_t alignment) {
  if (size != 0)
    builder.PreAlign(size, alignment);
  return builder.CreateVector(data, size);
}

} // namespace tenon::abi
