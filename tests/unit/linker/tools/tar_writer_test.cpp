// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/tools/tar_writer.h"

#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

// `tar xf` reads them in tests/lit/linker/outputs.test; here are the bytes.
TEST(TarWriter, WritesHeadersWithTheirChecksum) {
  TarWriter tar;
  tar.add("a/b.txt", "hello", true);
  const std::string bytes = tar.take();
  ASSERT_EQ(bytes.size(), 4 * 512u) << "a header, a block, two empty blocks";
  EXPECT_EQ(bytes.substr(0, 8), std::string("a/b.txt\0", 8));
  EXPECT_EQ(bytes.substr(100, 7), "0000755");
  EXPECT_EQ(bytes.substr(124, 11), "00000000005");
  EXPECT_EQ(bytes.substr(257, 5), "ustar");
  unsigned sum = 0;
  for (size_t i = 0; i < 512; ++i)
    sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(bytes[i]);
  EXPECT_EQ(std::stoul(bytes.substr(148, 6), nullptr, 8), sum);
  EXPECT_EQ(bytes.substr(512, 6), std::string("hello\0", 6));
}

TEST(TarWriter, KeepsLongNames) {
  const std::string name = std::string(300, 'n') + "/x";
  TarWriter tar;
  tar.add(name, "");
  const std::string bytes = tar.take();
  EXPECT_EQ(bytes.substr(0, 13), "././@LongLink");
  EXPECT_EQ(bytes[156], 'L');
  EXPECT_EQ(bytes.substr(512, name.size()), name);
  EXPECT_EQ(bytes.substr(1024, 100), name.substr(0, 100));
}

TEST(TarWriter, FillsWholeBlocksExactly) {
  TarWriter tar;
  tar.add("full", std::string(512, 'x'));
  EXPECT_EQ(tar.take().size(), 4 * 512u);
}

} // namespace
} // namespace tenon::linker
