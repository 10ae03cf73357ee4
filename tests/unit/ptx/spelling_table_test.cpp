// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/spelling_table.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

namespace tenon::ptx {
namespace {

/// Spellings in memory of which 16 bytes can be read, with other text behind them.
class Texts {
public:
  std::string_view operator()(const std::string &spelling, char behind = ' ') {
    return std::string_view(kept_.emplace_back(spelling + std::string(16, behind))).substr(0, spelling.size());
  }

private:
  std::deque<std::string> kept_;
};

TEST(PtxSpellingTable, FindsWhatItWasGivenWhateverStandsBehind) {
  Texts text;
  SpellingTable table;
  const std::vector<std::string> spellings = {"r",
                                              "ret",
                                              "bra.uni",
                                              "mad.wide",
                                              "fma.rn.f32",
                                              "ld.global.nc.f32",
                                              "ld.global.nc.f32x",
                                              "cp.async.bulk.tensor.2d.shared::cluster.global.tile",
                                              "cp.async.bulk.tensor.3d.shared::cluster.global.tile"};
  for (uint32_t i = 0; i < spellings.size(); ++i) {
    EXPECT_EQ(table.find(text(spellings[i])), SpellingTable::kNone) << spellings[i];
    EXPECT_EQ(table.add({.text = text(spellings[i])}), i);
  }
  for (uint32_t i = 0; i < spellings.size(); ++i) {
    EXPECT_EQ(table.find(text(spellings[i], ';')), i) << spellings[i];
    EXPECT_EQ(table[i].text, spellings[i]);
    EXPECT_EQ(table.find(text(spellings[i] + ".x")), SpellingTable::kNone) << spellings[i];
  }
}

TEST(PtxSpellingTable, TakesNoMoreThanItHasRoomFor) {
  Texts text;
  SpellingTable table;
  uint32_t taken = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::string spelling = "op.x" + std::to_string(i);
    const uint32_t number = table.add({.text = text(spelling)});
    EXPECT_EQ(table.find(text(spelling)), number);
    taken += number != SpellingTable::kNone;
  }
  EXPECT_GE(taken, 256u);
  EXPECT_LE(taken, 512u);
}

} // namespace
} // namespace tenon::ptx
