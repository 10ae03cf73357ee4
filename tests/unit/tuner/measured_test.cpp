// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tuner/measured.h"

#include <gtest/gtest.h>

namespace tenon::tuner {
namespace {

using compiler::codegen::TuningEntry;

Racer timed(double nanoseconds) {
  return {.program = {}, .nanoseconds = nanoseconds};
}

TEST(Measured, TheModelKeepsWhatIsNoFaster) {
  EXPECT_EQ(winnerOf({timed(1000), timed(995), timed(2000)}), 0u);
  EXPECT_EQ(winnerOf({timed(1000), timed(985), timed(980)}), 2u);
}

TEST(Measured, WhatIsLeftOutNeverWins) {
  EXPECT_EQ(winnerOf({timed(1000), {.program = {}, .problem = "it is wrong"}, timed(900)}), 2u);
}

TEST(Measured, AnEntryIsReadByTheCompiler) {
  const Contraction contraction{"key", "f.mlir:1:1", "", {}, {}, false};
  const std::vector<std::optional<TileChoice>> choices = {TileChoice{"mma.sync", {{"rows", 64}}},
                                                          TileChoice{"wgmma", {{"rows", 128}}},
                                                          TileChoice{"wgmma", {{"rows", 64}}}};
  const std::vector<Racer> racers = {timed(1000), timed(900), {.program = {}, .problem = "say \"no\""}};
  const TuningEntry entry = entryOf(contraction, {90, abi::ArchSuffix::A}, choices, racers, 1, {"a machine", 12, 3, 0});
  const SourceFile file("t.json", compiler::codegen::writeTuningFile({entry}));
  const auto read = compiler::codegen::readTuningFile(
      file, [](const SourceLocation &, const std::string &message) { ADD_FAILURE() << message; });
  ASSERT_TRUE(read);
  EXPECT_EQ(read->front().choice.text(), "{by = \"wgmma\", rows = 128}");
  for (const char *text : {"\"machine\": \"a machine\"", "\"nanoseconds\": 900", "\"nanoseconds\": 1000",
                           "{by = \\\"mma.sync\\\", rows = 64}", "say \\\"no\\\""})
    EXPECT_NE(read->front().measured.find(text), std::string::npos) << text << " in " << read->front().measured;
}

TEST(Measured, TakesThePlaceOfWhatIsAboutTheSame) {
  const TileChoice before{"threads", {}}, after{"mma.sync", {}};
  const std::vector<TuningEntry> all =
      merged({{{80}, "x", before, ""}, {{90}, "x", before, ""}}, {{{90}, "x", after, ""}, {{90}, "y", after, ""}});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].choice.by, "threads");
  EXPECT_EQ(all[1].choice.by, "mma.sync");
  EXPECT_EQ(all[2].contraction, "y");
}

} // namespace
} // namespace tenon::tuner
