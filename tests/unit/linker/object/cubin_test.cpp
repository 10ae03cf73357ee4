// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/object/cubin.h"

#include "tests/unit/linker/cubin_testing.h"

#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

using namespace testing;

TEST(Cubin, ReadsWhatTheDriverReads) {
  const std::string bytes = makeCubin("k", {{0, 8}, {8, 8}, {16, 4}}, 90, 1024 + 256); // 1024 are the system's
  Result<Cubin> cubin = readCubin(bytes);
  ASSERT_TRUE(cubin.ok()) << cubin.status().message();
  EXPECT_EQ(cubin->archNumber, 90);
  ASSERT_EQ(cubin->kernels.size(), 1u);
  const CubinKernel &kernel = cubin->kernels[0];
  EXPECT_EQ(cubin->findKernel("k"), &kernel);
  EXPECT_EQ(cubin->findKernel("other"), nullptr);
  EXPECT_TRUE(kernel.isEntry);
  EXPECT_EQ(kernel.registers, 14u);
  EXPECT_EQ(kernel.stackBytes, 48u);
  EXPECT_EQ(kernel.staticSharedBytes, 256u);
  EXPECT_EQ(kernel.parameterBytes, 20u);
  ASSERT_EQ(kernel.parameters.size(), 3u);
  EXPECT_EQ(kernel.parameters[2].offset, 16u);
  EXPECT_EQ(kernel.parameters[2].size, 4u);
  EXPECT_EQ(kernel.requiredThreads, (std::array<uint32_t, 3>{64, 1, 1}));
  EXPECT_FALSE(kernel.maxThreads);
}

TEST(Cubin, ReadsTheArchitectureOfOlderToolkits) {
  const std::string bytes = makeElf(190, 7, 0x00500550, {});
  Result<Cubin> cubin = readCubin(bytes);
  ASSERT_TRUE(cubin.ok());
  EXPECT_EQ(cubin->archNumber, 80);
}

// ptxas 13 for sm_100, a block above 4352 bytes: flags stand above the size.
TEST(Cubin, ReadsTheSizeOfAWideParameter) {
  const std::string info = "\x04\x45" + little(uint16_t(12)) + little(uint32_t(0)) + little(uint16_t(0)) +
                           little(uint16_t(0)) + little(uint32_t(0x05000008));
  const std::string bytes =
      makeElf(190, 8, 100 << 8, {{.name = ".text.k", .bytes = "code"}, {.name = ".nv.info.k", .bytes = info}});
  Result<Cubin> cubin = readCubin(bytes);
  ASSERT_TRUE(cubin.ok()) << cubin.status().message();
  ASSERT_EQ(cubin->kernels.at(0).parameters.size(), 1u);
  EXPECT_EQ(cubin->kernels.at(0).parameters[0].size, 8u);
}

TEST(Cubin, TellsEntriesByTheirMarkAndNotByTheirBinding) {
  Result<Cubin> local = readCubin(makeCubin("k", {}, 80, 0, /*binding=*/0));
  ASSERT_TRUE(local.ok());
  EXPECT_TRUE(local->kernels.at(0).isEntry);
  Result<Cubin> function = readCubin(makeCubin("k", {}, 80, 0, /*binding=*/1, /*other=*/0));
  ASSERT_TRUE(function.ok());
  EXPECT_FALSE(function->kernels.at(0).isEntry);
}

TEST(Cubin, RefusesWhatIsNone) {
  const std::string host = makeElf(62, 0, 0, {});
  EXPECT_EQ(readCubin(host).status().message(), "the ELF file is not for CUDA");
  std::string relocatable = makeCubin("k", {});
  relocatable[16] = 1;
  EXPECT_EQ(readCubin(relocatable).status().message(), "the cubin must still be linked (nvcc -rdc=true)");
}

TEST(Cubin, RefusesAnAttributeThatIsCutShort) {
  const std::string bytes = makeElf(
      190, 8, 80 << 8,
      {{.name = ".text.k", .bytes = "code"}, {.name = ".nv.info.k", .bytes = std::string("\x04\x17\x0c\x00\x01", 5)}});
  EXPECT_EQ(readCubin(bytes).status().message(), "the cubin is damaged: an attribute is cut short");
}

TEST(Cubin, SurvivesEveryTruncationAndFlip) {
  const std::string good = makeCubin("k", {{0, 8}, {8, 4}}, 80, 256);
  for (size_t size = 0; size < good.size(); ++size)
    (void)readCubin(good.substr(0, size)).ok();
  for (size_t i = 0; i < good.size(); ++i)
    for (char bit : {'\x01', '\x80', '\xff'}) {
      std::string bad = good;
      bad[i] = char(bad[i] ^ bit);
      (void)readCubin(bad).ok();
    }
}

} // namespace
} // namespace tenon::linker
