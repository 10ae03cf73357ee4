// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/declare/json_positions.h"

#include "support/source_file.h"

#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

std::vector<std::string> places(std::string text, const std::string &list) {
  SourceFile source("m.json", std::move(text));
  std::vector<std::string> result;
  auto found = findListElements(source.text());
  for (const size_t offset : found[list])
    result.push_back(source.locate(offset).toString());
  return result;
}

using Places = std::vector<std::string>;

TEST(JsonPositions, FindsTheElementsOfTopLevelLists) {
  const char *text = "{\"name\": \"x\",\n \"exports\": [\n  {\"a\": [1, 2]},\n  {\"b\": {}}],\n \"objects\": [{}, {}]}";
  EXPECT_EQ(places(text, "exports"), (Places{"m.json:3:3", "m.json:4:3"}));
  EXPECT_EQ(places(text, "objects"), (Places{"m.json:5:14", "m.json:5:18"}));
}

TEST(JsonPositions, ReadsFlatBuffersOwnLiberties) {
  EXPECT_EQ(places("// {\n{exports: [ /* [ */ {},\n{}, ],}", "exports"), (Places{"m.json:2:21", "m.json:3:1"}));
  EXPECT_EQ(places("{\"a]\\\"[\": 1, 'exports': [{\"x\": \"]\"}, {}]}", "exports").size(), 2u);
}

TEST(JsonPositions, SurvivesBrokenText) {
  for (const char *text : {"", "{", "]}]", "{\"exports", "{\"exports\": [{", "{exports: [\"\\", "/*", "/* *", "/"})
    places(text, "exports");
  EXPECT_EQ(places("{exports: [{}", "exports").size(), 1u);
}

} // namespace
} // namespace tenon::linker
