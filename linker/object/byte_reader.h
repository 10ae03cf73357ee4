// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Little-endian numbers from bytes that nobody vouches for.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace tenon::linker {

/// The bytes [offset, offset + size), or nothing where they are not all there.
inline std::optional<std::string_view> bytesAt(std::string_view bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset)
    return std::nullopt;
  return bytes.substr(size_t(offset), size_t(size));
}

/// The number at `offset`; 0 where the bytes end before it: callers check the size of the record first.
template <typename T> T numberAt(std::string_view bytes, uint64_t offset) {
  T value = 0;
  if (std::optional<std::string_view> found = bytesAt(bytes, offset, sizeof(T)))
    std::memcpy(&value, found->data(), sizeof(T));
  return value;
}

/// The text up to its NUL, or to the end.
inline std::string_view stringAt(std::string_view bytes, uint64_t offset) {
  if (offset >= bytes.size())
    return {};
  bytes.remove_prefix(size_t(offset));
  return bytes.substr(0, bytes.find('\0'));
}

} // namespace tenon::linker
