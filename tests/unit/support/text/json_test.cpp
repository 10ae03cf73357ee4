// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/text/json.h"

#include "support/status.h"

#include <array>
#include <gtest/gtest.h>
#include <vector>

namespace tenon {
namespace {

/// Text of any form as "{a=[1,2],b=x}", or what is wrong and where.
void describe(JsonReader &json, std::string &out) {
  switch (json.next()) {
  case JsonReader::Next::Object: {
    out += '{';
    json.object([&](std::string_view name, size_t) {
      out += concat(out.back() == '{' ? "" : ",", name, '=');
      describe(json, out);
    });
    out += '}';
    return;
  }
  case JsonReader::Next::Array:
    out += '[';
    json.array([&] {
      out += out.back() == '[' ? "" : ",";
      describe(json, out);
    });
    out += ']';
    return;
  case JsonReader::Next::Number:
    out += concat(json.integer<int64_t>());
    return;
  case JsonReader::Next::String:
  case JsonReader::Next::Word:
  case JsonReader::Next::Other:
    out += json.stringOrWord();
    return;
  }
}

std::string read(std::string_view text) {
  JsonReader json(text);
  std::string out;
  describe(json, out);
  json.finish();
  return json.mistake() ? concat(json.mistake()->offset, ": ", json.mistake()->message) : out;
}

template <typename Integer> std::string readInteger(std::string_view text) {
  JsonReader json(text);
  const Integer value = json.integer<Integer>();
  json.finish();
  return json.mistake() ? json.mistake()->message : std::to_string(value);
}

TEST(JsonReader, ReadsValues) {
  EXPECT_EQ(read(R"( { "a" : [ 1 , -2 , [] ] , "b" : { } , "c" : "x" } )"), "{a=[1,-2,[]],b={},c=x}");
  EXPECT_EQ(read("\t\r\n7\n"), "7");
  EXPECT_EQ(read("\xef\xbb\xbf{}"), "{}") << "a byte order mark";
}

TEST(JsonReader, ReadsWhatPeopleWrite) {
  EXPECT_EQ(read("// first\n{a: [1, 2,], 'b': 'it\"s', /* { */ c_1: word, /**/ } // last"),
            "{a=[1,2],b=it\"s,c_1=word}");
  EXPECT_EQ(read("0x1f"), "31");
}

TEST(JsonReader, ResolvesEscapes) {
  EXPECT_EQ(read(R"("\"\\\/\b\f\n\r\t'")"), "\"\\/\b\f\n\r\t'");
  EXPECT_EQ(read(R"("\u0041\u00e4\u20AC\ud83d\ude00")"), "A\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(read("\"\xc3\xa4 \xed\x9f\xbf \xf4\x8f\xbf\xbf\""), "\xc3\xa4 \xed\x9f\xbf \xf4\x8f\xbf\xbf");
  for (const char *text :
       {R"("\x")", R"("\u12")", R"("\u12g4")", R"("\ud800")", R"("\ud800\u0041")", R"("\udc00")", R"("\)"})
    EXPECT_EQ(read(text), "1: the string has an escape that is none") << text;
  for (const char *text :
       {"\"\xff\"", "\"\xc0\x80\"", "\"\xe0\x80\x80\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xc3"})
    EXPECT_EQ(read(text), "1: the string is not UTF-8") << text;
}

TEST(JsonReader, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(read(""), "0: expected a string, found the end");
  EXPECT_EQ(read("{\"a\" 1}"), "5: expected ':', found a number");
  EXPECT_EQ(read("{\"a\": 1 \"b\": 2}"), "8: expected ',' or '}', found a string");
  EXPECT_EQ(read("[1 2]"), "3: expected ',' or ']', found a number");
  EXPECT_EQ(read("[1"), "2: expected ',' or ']', found the end");
  EXPECT_EQ(read("[,]"), "1: expected a string, found ','");
  EXPECT_EQ(read("{,}"), "1: expected a string, found ','");
  EXPECT_EQ(read("{3: 4}"), "1: expected a string, found a number");
  EXPECT_EQ(read("{a:: 4}"), "3: expected a string, found ':'");
  EXPECT_EQ(read("{} {}"), "3: expected the end, found '{'");
  EXPECT_EQ(read("[/ 1]"), "1: expected a string, found '/'");
  EXPECT_EQ(read("[1 /* ]"), "3: the comment does not end");
  EXPECT_EQ(read("[\"a]"), "1: the string does not end");
  EXPECT_EQ(read("\"a\nb\""), "2: the string has the control character 10, which is written as an escape");
  EXPECT_EQ(read("[\x01]"), "1: expected a string, found the byte 1");
  EXPECT_EQ(read(std::string_view("[1]\0", 4)), "3: expected the end, found the byte 0");
}

TEST(JsonReader, ReadsIntegersInRange) {
  EXPECT_EQ(readInteger<uint32_t>("4294967295"), "4294967295");
  EXPECT_EQ(readInteger<uint32_t>("4294967296"), "4294967296 is not from 0 to 4294967295");
  EXPECT_EQ(readInteger<uint32_t>("-1"), "-1 is not from 0 to 4294967295");
  EXPECT_EQ(readInteger<int32_t>("-2147483648"), "-2147483648");
  EXPECT_EQ(readInteger<int32_t>("-2147483649"), "-2147483649 is not from -2147483648 to 2147483647");
  EXPECT_EQ(readInteger<int64_t>("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(readInteger<uint64_t>("0xffffffffffffffff"), "18446744073709551615");
  EXPECT_EQ(readInteger<uint64_t>("18446744073709551616"),
            "18446744073709551616 is not from 0 to 18446744073709551615");
  for (const char *text : {"1.5", "1e3", "1.", "0x", "12a", "-", "-x"})
    EXPECT_EQ(readInteger<int32_t>(text), concat('\'', text, "' is no integer"));
  EXPECT_EQ(readInteger<int32_t>("\"1\""), "expected a number, found a string");
}

TEST(JsonReader, ReadsBooleansAndNull) {
  JsonReader json("[true, false, 1, 0, null]");
  std::vector<bool> found;
  bool isNull = false;
  json.array([&] {
    isNull = json.acceptNull();
    if (!isNull)
      found.push_back(json.boolean());
  });
  EXPECT_FALSE(json.mistake());
  EXPECT_TRUE(isNull);
  EXPECT_EQ(found, (std::vector<bool>{true, false, true, false}));
  for (const char *text : {"yes", "2", "\"true\"", "nul", ""}) {
    JsonReader other(text);
    EXPECT_FALSE(other.acceptNull());
    EXPECT_FALSE(other.boolean());
    EXPECT_TRUE(other.mistake()) << text;
  }
}

TEST(JsonReader, TellsOffsets) {
  JsonReader json("{\"a\": [ 10, 20 ] }");
  std::vector<size_t> at;
  const size_t end = json.object([&](std::string_view, size_t name) {
    at.push_back(name);
    json.array([&] {
      at.push_back(json.offset());
      (void)json.integer<int>();
    });
  });
  EXPECT_EQ(at, (std::vector<size_t>{1, 8, 12}));
  EXPECT_EQ(end, 17u);
}

TEST(JsonReader, KeepsTheFirstMistake) {
  JsonReader json("[1, 2, 3]");
  int count = 0;
  json.array([&] {
    ++count;
    json.fail(json.offset(), "first");
    json.fail(json.offset(), "second");
    EXPECT_EQ(json.integer<int>(), 0);
    EXPECT_EQ(json.string(), "");
  });
  json.finish();
  EXPECT_EQ(count, 1);
  EXPECT_EQ(json.mistake()->message, "first");
  EXPECT_EQ(json.mistake()->offset, 1u);
}

TEST(JsonReader, SurvivesEveryTruncation) {
  const std::string text = "// c\n{a: [1, 'x', /* */ {}], \"b\\u0041\\ud83d\\ude00\": \"\xc3\xa4\", c: true}";
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_NE(read(text.substr(0, length)).find(": "), std::string::npos) << length;
}

TEST(JsonWriter, BreaksLinesWhereItIsTold) {
  JsonWriter json(JsonWriter::Style::Inline);
  json.beginObject();
  json.member("a", 1);
  json.breakLine(2);
  json.key("b");
  json.beginArray();
  json.value("x");
  json.raw("1.50");
  json.breakLine(0);
  json.endArray();
  json.key("c");
  json.beginObject();
  json.endObject();
  json.endObject();
  EXPECT_EQ(json.take(), "{\"a\": 1,\n  \"b\": [\"x\", 1.50\n], \"c\": {}}");
}

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
})");
}

TEST(JsonWriter, EscapesStrings) {
  JsonWriter json;
  json.value("a\"b\\c\nd\x01");
  EXPECT_EQ(json.take(), "\"a\\\"b\\\\c\\u000ad\\u0001\"");
}

} // namespace
} // namespace tenon
