// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/tools/json_writer.h"

#include <array>
#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

TEST(JsonWriter, NestsAndSeparates) {
  JsonWriter json;
  json.beginObject();
  json.member("name", "x");
  json.member("size", uint64_t(1) << 63);
  json.member("small", int32_t(-1));
  json.member("yes", true);
  json.key("extent");
  json.numbers(std::array<uint32_t, 3>{1, 2, 3});
  json.key("empty");
  json.beginArray();
  json.endArray();
  json.key("list");
  json.beginArray();
  json.beginObject();
  json.endObject();
  json.value("b");
  json.endArray();
  json.endObject();
  EXPECT_EQ(json.take(), R"({
  "name": "x",
  "size": 9223372036854775808,
  "small": -1,
  "yes": true,
  "extent": [1, 2, 3],
  "empty": [],
  "list": [
    {},
    "b"
  ]
}
)");
}

TEST(JsonWriter, EscapesStrings) {
  JsonWriter json;
  json.value("a\"b\\c\nd\x01");
  EXPECT_EQ(json.take(), "\"a\\\"b\\\\c\\u000ad\\u0001\"\n");
}

} // namespace
} // namespace tenon::linker
