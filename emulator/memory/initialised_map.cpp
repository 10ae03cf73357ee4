// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/memory/initialised_map.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <vector>

namespace tenon::emulator {

InitialisedMap::InitialisedMap(uint64_t bytes) : size_(bytes / 8 + 1) {
  void *p = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  bits_ = p == MAP_FAILED ? nullptr : static_cast<uint8_t *>(p);
}

InitialisedMap::~InitialisedMap() {
  if (bits_)
    munmap(bits_, size_);
}

void InitialisedMap::set(uint64_t offset, uint64_t bytes, bool initialised) {
  auto one = [&](uint64_t at) {
    uint8_t bit = static_cast<uint8_t>(1u << (at & 7));
    bits_[at >> 3] = static_cast<uint8_t>(initialised ? bits_[at >> 3] | bit : bits_[at >> 3] & ~bit);
  };
  uint64_t end = offset + bytes;
  for (; offset < end && (offset & 7); ++offset)
    one(offset);
  if (uint64_t whole = (end - offset) / 8; offset < end && whole) {
    memset(bits_ + offset / 8, initialised ? 0xff : 0, whole);
    offset += whole * 8;
  }
  for (; offset < end; ++offset)
    one(offset);
}

void InitialisedMap::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  if (firstUnset(from, bytes) == from + bytes) { // nearly always
    set(to, bytes, true);
    return;
  }
  std::vector<bool> values(bytes);
  for (uint64_t k = 0; k < bytes; ++k)
    values[k] = get(from + k);
  for (uint64_t k = 0; k < bytes; ++k)
    set(to + k, 1, values[k]);
}

uint64_t InitialisedMap::firstUnset(uint64_t offset, uint64_t bytes) const {
  uint64_t end = offset + bytes;
  while (offset < end) {
    if (!(offset & 7) && end - offset >= 8 && bits_[offset >> 3] == 0xff) {
      offset += 8;
      continue;
    }
    if (!get(offset))
      return offset;
    ++offset;
  }
  return end;
}

} // namespace tenon::emulator
