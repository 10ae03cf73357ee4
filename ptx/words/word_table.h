// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A table of words, known when this is compiled, in which a word is found by its length, its ends and its middle.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tenon::ptx {

/// Positions of words in `rows`, an array of things with a `word`. Empty words are not found. Words that meet in a slot
/// stand in the next ones.
template <size_t Slots> class WordTable {
  static_assert((Slots & (Slots - 1)) == 0 && Slots <= 256);

public:
  template <typename Rows> constexpr explicit WordTable(const Rows &rows) {
    uint8_t number = 0;
    for (const auto &row : rows) {
      ++number;
      if (row.word.empty())
        continue;
      size_t slot = slotOf(row.word);
      while (slots_[slot] != 0)
        slot = (slot + 1) % Slots;
      slots_[slot] = number;
    }
  }

  /// The row of `word`, or -1.
  template <typename Rows> constexpr int find(const Rows &rows, std::string_view word) const {
    if (word.empty())
      return -1;
    for (size_t slot = slotOf(word); slots_[slot] != 0; slot = (slot + 1) % Slots)
      if (rows[slots_[slot] - 1].word == word)
        return slots_[slot] - 1;
    return -1;
  }

private:
  static constexpr size_t slotOf(std::string_view word) {
    const auto at = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(word[i])); };
    return (at(0) * 7 + at(word.size() - 1) * 31 + at(word.size() / 2) * 13 + word.size() * 3) % Slots;
  }

  std::array<uint8_t, Slots> slots_ = {}; // row + 1; 0: none
};

} // namespace tenon::ptx
