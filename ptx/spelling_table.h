// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opcodes with their modifiers, as they stand in the text, taken apart once: a module has a few dozen spellings like
// `ld.global.nc.v4.f32`, and thousands of instructions. The texts that the rows point to are those of first sight.
#pragma once

#include "ptx/arena.h"
#include "ptx/opcode_facts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace tenon::ptx {

struct Spelling {
  std::string_view text; // "ld.global.f32"
  std::string_view opcode;
  List<std::string_view> modifiers;
  OpcodeFacts facts;
};

class SpellingTable {
public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// The number of a spelling, or kNone. At least 16 bytes must be readable from its beginning.
  [[gnu::always_inline]] uint32_t find(std::string_view text) const {
    const Key key(text);
    const Slot &first = slots_[key.hash() % kSlots];
    return first.key == key && text.size() <= 16 ? first.number : findFurther(key, text);
  }
  /// Takes in a spelling that find() does not know; its number, or kNone where there is no room. Hostile texts have a
  /// new spelling in every line: they must cost neither memory nor long searches.
  uint32_t add(const Spelling &spelling) {
    const Key key(spelling.text);
    for (size_t slot = key.hash(), probes = 0; probes < kProbes; ++probes, ++slot) {
      Slot &free = slots_[slot % kSlots];
      if (free.number != kNone)
        continue;
      free = {key, static_cast<uint32_t>(spellings_.size())};
      spellings_.push_back(spelling);
      return free.number;
    }
    return kNone;
  }
  const Spelling &operator[](uint32_t number) const { return spellings_[number]; }
  void clear() {
    if (spellings_.empty())
      return;
    std::fill(slots_.begin(), slots_.end(), Slot());
    spellings_.clear();
  }

private:
  static constexpr size_t kSlots = 512, kProbes = 8;

  /// The first 16 bytes, zeros behind them, and the size.
  struct Key {
    Key() = default;
    explicit Key(std::string_view text) : size(static_cast<uint32_t>(text.size())) {
      const size_t kept = std::min<size_t>(size, 16);
      std::memcpy(&low, text.data(), 8);
      std::memcpy(&high, text.data() + 8, 8);
      low &= kFirstBytes[kept + 8];
      high &= kFirstBytes[kept];
    }
    size_t hash() const { return ((low ^ (high + size) * 0xff51afd7ed558ccd) * 0x9e3779b97f4a7c15) >> 40; }
    bool operator==(const Key &) const = default;
    uint64_t low = 0, high = 0;
    uint32_t size = 0;
  };
  struct Slot {
    Key key;
    uint32_t number = kNone;
  };
  uint32_t findFurther(const Key &key, std::string_view text) const {
    for (size_t slot = key.hash(), probes = 0; probes < kProbes; ++probes, ++slot) {
      const Slot &known = slots_[slot % kSlots];
      if (known.key == key && (text.size() <= 16 || spellings_[known.number].text == text))
        return known.number;
      if (known.number == kNone)
        return kNone;
    }
    return kNone;
  }
  /// kFirstBytes[8 + n]: mask of the first n bytes of 8 in memory; all of them from 16 on, none up to 8.
  static constexpr std::array<uint64_t, 25> kFirstBytes = [] {
    std::array<uint64_t, 25> masks = {};
    for (size_t i = 9; i < masks.size(); ++i)
      for (size_t byte = 0; byte < std::min<size_t>(i - 8, 8); ++byte)
        masks[i] |= uint64_t(0xff) << 8 * (std::endian::native == std::endian::little ? byte : 7 - byte);
    return masks;
  }();

  std::vector<Slot> slots_ = std::vector<Slot>(kSlots);
  std::vector<Spelling> spellings_;
};

} // namespace tenon::ptx
