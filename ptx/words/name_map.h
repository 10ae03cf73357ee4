// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From names to numbers, for one body at a time: cleared and filled again for each, so it keeps its memory. Names are
// views and outlive their stay in the map. For lookup only; nothing is ever listed in its order.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace tenon::ptx {

/// Equality of names: short ones, for which a call would cost more than the comparison.
inline bool sameName(std::string_view a, std::string_view b) {
  if (a.size() != b.size())
    return false;
  const char *p = a.data(), *q = b.data();
  size_t left = a.size();
  for (; left >= 8; left -= 8, p += 8, q += 8) {
    uint64_t x, y;
    std::memcpy(&x, p, 8);
    std::memcpy(&y, q, 8);
    if (x != y)
      return false;
  }
  for (; left != 0; --left, ++p, ++q)
    if (*p != *q)
      return false;
  return true;
}

inline uint64_t hashOf(std::string_view name) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
  auto mix = [](uint64_t a) {
    const __uint128_t product = static_cast<__uint128_t>(a) * kFactor;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  uint64_t hash = name.size();
  const char *p = name.data();
  size_t left = name.size();
  for (; left > 8; left -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    hash = mix(hash ^ word);
  }
  uint64_t word = 0;
  for (size_t i = 0; i < left; ++i)
    word = word << 8 | static_cast<unsigned char>(p[i]);
  return mix(hash ^ word);
}

class NameMap {
public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// Makes room for so many names.
  void reserve(size_t count) {
    while (slots_.size() < 2 * (count + 1))
      grow();
  }
  void clear() {
    count_ = 0;
    if (++filling_ == 0) { // after 4 billion times the numbers begin again
      slots_.clear();
      filling_ = 1;
    }
  }
  /// The number of `name`, or kNone.
  uint32_t find(std::string_view name) const {
    if (count_ == 0)
      return kNone;
    const Slot &slot = slots_[slotOf(name, static_cast<uint32_t>(hashOf(name)))];
    return isFree(slot) ? kNone : slot.value;
  }
  /// The place of the number of `name`; kNone stands there when the name is new.
  uint32_t &operator[](std::string_view name) {
    if (2 * (count_ + 1) > slots_.size())
      grow();
    const auto hash = static_cast<uint32_t>(hashOf(name));
    Slot &slot = slots_[slotOf(name, hash)];
    if (isFree(slot)) {
      slot = {.text = name.data(),
              .size = static_cast<uint32_t>(name.size()),
              .hash = hash,
              .value = kNone,
              .filling = filling_};
      ++count_;
    }
    return slot.value;
  }

private:
  struct Slot {
    const char *text = nullptr;
    uint32_t size = 0;
    uint32_t hash = 0; // so that only names that are the same, nearly always, are looked at
    uint32_t value = kNone;
    uint32_t filling = 0; // which it was taken in; free, unless it is the one at hand
  };
  bool isFree(const Slot &slot) const { return slot.filling != filling_; }

  size_t slotOf(std::string_view name, uint32_t hash) const {
    const size_t mask = slots_.size() - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      const Slot &slot = slots_[i];
      if (isFree(slot) || (slot.hash == hash && sameName({slot.text, slot.size}, name)))
        return i;
    }
  }

  void grow() {
    std::vector<Slot> before(slots_.empty() ? 64 : slots_.size() * 2);
    before.swap(slots_);
    const size_t mask = slots_.size() - 1;
    for (const Slot &slot : before) {
      if (isFree(slot))
        continue;
      size_t i = slot.hash & mask;
      while (!isFree(slots_[i]))
        i = (i + 1) & mask;
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_; // a power of two
  size_t count_ = 0;
  uint32_t filling_ = 1;
};

} // namespace tenon::ptx
