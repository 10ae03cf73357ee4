// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/object/fatbin.h"

#include "tests/unit/linker/fatbin_testing.h"

#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

using namespace testing;

TEST(Fatbin, ReadsEntriesOfSeveralInARow) {
  const std::string bytes = makeFatbin({{.kind = 2, .arch = 90, .flags = 0x100011, .payload = "code"},
                                        {.kind = 1, .arch = 100, .flags = 0x200011, .payload = "text"}}) +
                            std::string(8, '\0') + makeFatbin({{.kind = 8, .arch = 80, .payload = "ir"}});
  Result<std::vector<FatbinEntry>> entries = readFatbin(bytes);
  ASSERT_TRUE(entries.ok()) << entries.status().message();
  ASSERT_EQ(entries->size(), 3u);
  EXPECT_EQ((*entries)[0].name(), "sm_90a.cubin");
  EXPECT_EQ(*(*entries)[0].unpack(), "code");
  EXPECT_EQ((*entries)[1].name(), "sm_100f.ptx");
  EXPECT_EQ((*entries)[1].module, 0u);
  EXPECT_EQ((*entries)[2].name(), "sm_80.ltoir");
  EXPECT_EQ((*entries)[2].module, 1u);
}

TEST(Fatbin, UnpacksLz4) {
  // Five literals, then twelve bytes from five back, then the five literals that a block ends with.
  const std::string block = "\x58hello\x05" + std::string(1, '\0') + "\x50there";
  const std::string bytes =
      makeFatbin({{.kind = 1, .arch = 80, .flags = 0x2011, .payload = block, .unpackedSize = 22}});
  Result<std::vector<FatbinEntry>> entries = readFatbin(bytes);
  ASSERT_TRUE(entries.ok());
  Result<std::string> text = entries->at(0).unpack();
  ASSERT_TRUE(text.ok()) << text.status().message();
  EXPECT_EQ(*text, "hellohellohellohethere");
}

TEST(Fatbin, RefusesSizesThatAreNotTrue) {
  const std::string small =
      makeFatbin({{.kind = 1, .arch = 80, .flags = 0x2011, .payload = "\x10x", .unpackedSize = 400u << 20}});
  EXPECT_EQ(readFatbin(small)->at(0).unpack().status().message(), "LZ4 data is damaged");
  for (const uint64_t size : {21, 23}) { // not those of the block
    const std::string other = makeFatbin({{.kind = 1,
                                           .arch = 80,
                                           .flags = 0x2011,
                                           .payload = "\x58hello\x05" + std::string(1, '\0') + "\x50there",
                                           .unpackedSize = size}});
    EXPECT_EQ(readFatbin(other)->at(0).unpack().status().message(), "LZ4 data is damaged");
  }
  const std::string large =
      makeFatbin({{.kind = 1, .arch = 80, .flags = 0x2011, .payload = "\x10x", .unpackedSize = 1ull << 40}});
  EXPECT_EQ(readFatbin(large)->at(0).unpack().status().code(), StatusCode::ResourceExhausted);
  const std::string zstd = makeFatbin({{.kind = 1, .arch = 80, .flags = 0x8011, .payload = "junk", .unpackedSize = 9}});
  EXPECT_EQ(readFatbin(zstd)->at(0).unpack().status().message(),
            "the fatbin is damaged: an entry's size is not that of its data");
}

TEST(Fatbin, SurvivesEveryTruncationAndFlip) {
  const std::string good = makeFatbin({{.kind = 1, .arch = 80, .flags = 0x2011, .payload = "\x10x", .unpackedSize = 1},
                                       {.kind = 2, .arch = 80, .payload = "code"}});
  auto read = [](std::string_view bytes) {
    Result<std::vector<FatbinEntry>> entries = readFatbin(bytes);
    if (entries.ok())
      for (const FatbinEntry &entry : *entries)
        (void)entry.unpack().ok();
  };
  for (size_t size = 0; size < good.size(); ++size)
    read(good.substr(0, size));
  for (size_t i = 0; i < good.size(); ++i)
    for (char bit : {'\x01', '\x20', '\x80', '\xff'}) {
      std::string bad = good;
      bad[i] = char(bad[i] ^ bit);
      read(bad);
    }
}

} // namespace
} // namespace tenon::linker
