// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/tuning/tuning_file.h"

#include <gtest/gtest.h>

namespace tenon::compiler::codegen {
namespace {

struct Read {
  std::optional<std::vector<TuningEntry>> entries;
  std::vector<std::string> mistakes; // "line:column: message"
};

Read read(const std::string &text) {
  Read result;
  const SourceFile file("t.json", text);
  result.entries = readTuningFile(file, [&](const SourceLocation &place, const std::string &message) {
    result.mistakes.push_back(concat(place.line, ":", place.column, ": ", message));
  });
  return result;
}

std::string withEntry(const std::string &entry) {
  return "{\"tenon_tuning\": 1, \"choices\": [\n" + entry + "]}";
}

TEST(TuningFile, IsReadAsItIsWritten) {
  const std::vector<TuningEntry> entries = {
      {{90, abi::ArchSuffix::A}, "b \"key\"", {"wgmma", {{"rows", 128}, {"columns", 256}}}, "{\"nanoseconds\": 7}"},
      {{80}, "a", {"skinny", {{"few", 8}}}, ""}};
  const std::string text = writeTuningFile(entries);
  const Read found = read(text);
  ASSERT_TRUE(found.entries) << found.mistakes.front();
  ASSERT_EQ(found.entries->size(), 2u);
  const TuningEntry &first = found.entries->at(0), &second = found.entries->at(1);
  EXPECT_EQ(first.target.toString(), "sm_80") << "by targets, then by contractions";
  EXPECT_EQ(first.measured, "");
  EXPECT_EQ(second.target.toString(), "sm_90a");
  EXPECT_EQ(second.contraction, "b \"key\"");
  EXPECT_TRUE(second.choice == entries[0].choice);
  EXPECT_EQ(second.measured, "{\"nanoseconds\": 7}");
  EXPECT_GT(second.place.line, first.place.line);
  EXPECT_EQ(writeTuningFile(*found.entries), text);
}

TEST(TuningFile, KeepsWhatWasMeasuredAsItStands) {
  const Read found =
      read(withEntry("{\"target\": \"sm_80\", \"contraction\": \"x\", \"choice\": {\"by\": \"threads\"},\n"
                     "\"measured\": {\"a\": [1, {\"b\": null}],\n  \"c\": true} }"));
  ASSERT_TRUE(found.entries) << found.mistakes.front();
  EXPECT_EQ(found.entries->front().measured, "{\"a\": [1, {\"b\": null}],\n  \"c\": true}");
}

TEST(TuningFile, ReportsAllMistakesAtTheirPlaces) {
  const Read found = read("{\"tenon_tuning\": 2, \"choices\": [\n"
                          "{\"target\": \"sm_3\", \"contraction\": \"x\", \"choice\": {\"by\": \"threads\"}},\n"
                          "{\"target\": \"sm_80\", \"contraction\": \"x\", \"choices\": {\"by\": \"threads\"}},\n"
                          "{\"target\": \"sm_80\", \"contraction\": \"y\", \"choice\": {\"rows\": 64}}]}");
  EXPECT_FALSE(found.entries);
  ASSERT_EQ(found.mistakes.size(), 5u);
  EXPECT_EQ(found.mistakes[0], "1:18: 'tenon_tuning' is 2, and this compiler reads 1");
  EXPECT_TRUE(found.mistakes[1].starts_with("2:12: unknown target 'sm_3'; ")) << found.mistakes[1];
  EXPECT_EQ(found.mistakes[2], "3:41: field 'choices' is not known: did you mean 'choice'?");
  EXPECT_EQ(found.mistakes[3], "3:1: an entry needs 'choice'");
  EXPECT_EQ(found.mistakes[4], "4:51: 'choice' does not say who multiplies; wanted: \"by\", a string");
}

TEST(TuningFile, HasOneChoiceForAContraction) {
  const std::string entry = "{\"target\": \"sm_80\", \"contraction\": \"x\", \"choice\": {\"by\": \"threads\"}}";
  const Read found = read(withEntry(entry + ",\n" + entry));
  EXPECT_FALSE(found.entries);
  ASSERT_EQ(found.mistakes.size(), 1u);
  EXPECT_EQ(found.mistakes[0], "3:1: the same contraction has a choice for 'sm_80' in line 2 already");
}

TEST(TuningFile, SaysWhatItIs) {
  EXPECT_EQ(read("{}").mistakes.at(0),
            "1:1: this is no tuning file: 'tenon_tuning' is missing; wanted: \"tenon_tuning\": 1");
  EXPECT_EQ(read("").mistakes.size(), 1u);
  EXPECT_EQ(read("[1, 2]").mistakes.size(), 1u);
  EXPECT_EQ(read(withEntry("{\"target\": 80}")).mistakes.size(), 1u);
}

} // namespace
} // namespace tenon::compiler::codegen
