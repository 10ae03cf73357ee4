// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which bytes of a device's memory something has written: one bit per byte of the arena, committed as it is touched.
#pragma once

#include <cstdint>

namespace tenon::emulator {

class InitialisedMap {
public:
  /// For `bytes` of memory, of which none is initialised.
  explicit InitialisedMap(uint64_t bytes);
  ~InitialisedMap();
  InitialisedMap(const InitialisedMap &) = delete;
  InitialisedMap &operator=(const InitialisedMap &) = delete;
  bool ok() const { return bits_ != nullptr; }

  void set(uint64_t offset, uint64_t bytes, bool initialised);
  /// As memmove does with the bytes: what is not initialised there is not initialised here.
  void copy(uint64_t to, uint64_t from, uint64_t bytes);
  bool get(uint64_t offset) const { return bits_[offset >> 3] >> (offset & 7) & 1; }
  /// The first byte of the range that is not initialised; offset + bytes: all are.
  uint64_t firstUnset(uint64_t offset, uint64_t bytes) const;

private:
  uint8_t *bits_ = nullptr;
  uint64_t size_ = 0; // of the map
};

} // namespace tenon::emulator
