// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/files/source_file.h"

#include <gtest/gtest.h>

using namespace tenon;

static std::string place(const SourceFile &file, size_t offset) {
  return file.locate(offset).toString();
}

TEST(SourceFile, LocatesBytes) {
  SourceFile file("f", "ab\n\ncd");
  EXPECT_EQ(place(file, 0), "f:1:1");
  EXPECT_EQ(place(file, 2), "f:1:3"); // the line end belongs to its line
  EXPECT_EQ(place(file, 3), "f:2:1");
  EXPECT_EQ(place(file, 4), "f:3:1");
  EXPECT_EQ(place(file, 6), "f:3:3");   // the end
  EXPECT_EQ(place(file, 999), "f:3:3"); // behind it
}

TEST(SourceFile, ReturnsLinesWithoutTheirEnds) {
  SourceFile file("f", "ab\r\nc\rd\n\nlast\r");
  EXPECT_EQ(file.line(0), "");
  EXPECT_EQ(file.line(1), "ab");
  EXPECT_EQ(file.line(2), "c\rd"); // a lone CR is no line end
  EXPECT_EQ(file.line(3), "");
  EXPECT_EQ(file.line(4), "last\r");
  EXPECT_EQ(file.line(5), "");
}

TEST(SourceFile, TakesAnEmptyText) {
  SourceFile file("f", "");
  EXPECT_EQ(place(file, 0), "f:1:1");
  EXPECT_EQ(file.line(1), "");
  EXPECT_EQ(file.text(), "");
}

TEST(SourceFile, KeepsEveryByte) {
  std::string text("a\r\n\0b", 5);
  EXPECT_EQ(SourceFile("f", text).text(), text);
  EXPECT_EQ(SourceFile("name", text).name(), "name");
}
