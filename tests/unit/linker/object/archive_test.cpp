// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/object/archive.h"

#include "tests/unit/linker/fatbin_testing.h"

#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

using namespace testing;

const std::string kGood = "!<arch>\n" + archiveMember("/", "symbols") +
                          archiveMember("//", "a_name_of_many_letters.o/\n") + archiveMember("short.o/", "one") +
                          archiveMember("/0", "two") + archiveMember("#1/8", std::string("bsd.o\0\0\0three", 13));

TEST(Archive, ReadsEveryFormOfName) {
  Result<std::vector<ArchiveMember>> members = readArchive(kGood);
  ASSERT_TRUE(members.ok()) << members.status().message();
  ASSERT_EQ(members->size(), 3u);
  EXPECT_EQ((*members)[0].name, "short.o");
  EXPECT_EQ((*members)[0].bytes, "one");
  EXPECT_EQ((*members)[1].name, "a_name_of_many_letters.o");
  EXPECT_EQ((*members)[1].bytes, "two");
  EXPECT_EQ((*members)[2].name, "bsd.o");
  EXPECT_EQ((*members)[2].bytes, "three");
}

TEST(Archive, RefusesThinAndDamagedOnes) {
  EXPECT_EQ(readArchive("!<thin>\n").status().code(), StatusCode::Unimplemented);
  EXPECT_EQ(readArchive(kGood.substr(0, kGood.size() - 3)).status().message(),
            "the archive is damaged: a member ends outside");
  EXPECT_EQ(readArchive("!<arch>\n" + archiveMember("/7", "x")).status().message(),
            "the archive is damaged: a name is missing");
}

TEST(Archive, SurvivesEveryTruncationAndFlip) {
  for (size_t size = 0; size < kGood.size(); ++size)
    (void)readArchive(kGood.substr(0, size)).ok();
  for (size_t i = 0; i < kGood.size(); ++i)
    for (char bit : {'\x01', '\x08', '\x80'}) {
      std::string bad = kGood;
      bad[i] = char(bad[i] ^ bit);
      (void)readArchive(bad).ok();
    }
}

} // namespace
} // namespace tenon::linker
