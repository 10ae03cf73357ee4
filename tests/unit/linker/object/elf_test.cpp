// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/object/elf.h"

#include "tests/unit/linker/cubin_testing.h"

#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

using namespace testing;

TEST(Elf, ReadsSectionsAndSymbols) {
  const std::string bytes = makeCubin("k", {{0, 8}}, 80, 256);
  Result<ElfFile> file = readElf(bytes);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->machine, kElfMachineCuda);
  EXPECT_EQ(file->abiVersion, 8);
  ASSERT_NE(file->findSection(".text.k"), nullptr);
  EXPECT_EQ(file->findSection(".text.k")->bytes, "code");
  ASSERT_NE(file->findSection(".nv.shared.k"), nullptr);
  EXPECT_EQ(file->findSection(".nv.shared.k")->size, 256u);
  EXPECT_EQ(file->findSection(".nv.shared.k")->bytes, "");
  EXPECT_EQ(file->findSection(".gone"), nullptr);
  ASSERT_EQ(file->symbols.size(), 2u);
  EXPECT_EQ(file->symbols[1].name, "k");
  EXPECT_EQ(file->symbols[1].binding, 1);
}

TEST(Elf, RefusesOtherWidths) {
  std::string bytes = makeCubin("k", {});
  bytes[4] = 1;
  EXPECT_EQ(readElf(bytes).status().message(), "the ELF file is not 64-bit little endian");
}

TEST(Elf, SaysWhatIsDamaged) {
  const std::string good = makeCubin("k", {});
  EXPECT_EQ(readElf(good.substr(0, 20)).status().message(), "the ELF file is damaged: it is shorter than its header");
  EXPECT_EQ(readElf(good.substr(0, good.size() - 1)).status().message(),
            "the ELF file is damaged: its section headers end outside");
}

TEST(Elf, SurvivesEveryTruncationAndFlip) {
  const std::string good = makeCubin("k", {{0, 8}, {8, 4}}, 80, 256);
  for (size_t size = 0; size < good.size(); ++size)
    (void)readElf(good.substr(0, size)).ok();
  for (size_t i = 0; i < good.size(); ++i)
    for (char bit : {'\x01', '\x80', '\xff'}) {
      std::string bad = good;
      bad[i] = char(bad[i] ^ bit);
      (void)readElf(bad).ok();
    }
}

} // namespace
} // namespace tenon::linker
