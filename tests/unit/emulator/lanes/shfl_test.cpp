// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shuffles by constants against the rule itself, and through a kernel against shuffles by registers.
#include "emulator/lanes/shfl.h"

#include "tests/unit/emulator/harness.h"

namespace tenon::emulator::test {
namespace {

TEST(EmulatorShuffle, FixedTablesFollowTheRule) {
  uint32_t withBlocks = 0;
  for (ShuffleMode mode : {ShuffleMode::Up, ShuffleMode::Down, ShuffleMode::Butterfly, ShuffleMode::Index})
    for (uint32_t b = 0; b < 32; ++b)
      for (uint32_t c : {0u, 31u, 0x1800u | 7, 0x181fu, 0x1000u | 31}) {
        FixedShuffle table = fixShuffle(mode, b, c);
        withBlocks += table.blocks;
        for (uint32_t l = 0; l < kLanes; ++l) {
          bool inRange = false;
          uint32_t source = shuffleSource(mode, l, b, c, inRange);
          ASSERT_EQ(table.lane[l], source);
          ASSERT_EQ(table.valid >> l & 1, static_cast<uint32_t>(inRange));
          if (table.blocks) {
            ASSERT_EQ((table.fromSecond[l] ? table.second : table.first)[l / 8], source / 8);
          }
        }
      }
  EXPECT_GT(withBlocks, 500u); // of 640: nearly all
}

TEST(EmulatorShuffle, ConstantsAndRegistersAgree) {
  Session session;
  for (const char *mode : {"up", "down", "bfly", "idx"})
    for (uint32_t b : {0u, 1u, 5u, 8u, 16u, 31u})
      for (uint32_t c : {0u, 31u, 0x1807u, 0x181fu}) {
        DeviceArray<uint32_t> out(4 * 32), operands(std::vector<uint32_t>{b, c});
        std::string text =
            header("sm_80") +
            ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n  .reg .b64 %rd<6>; .reg .b32 %r<9>;\n"
            "  .reg .pred %p<3>;\n  ld.param.u64 %rd0, [out]; ld.param.u64 %rd1, [in];\n"
            "  ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd1+4]; mov.u32 %r0, %tid.x;\n"
            "  mul.lo.u32 %r3, %r0, 3;\n  shfl.sync." +
            std::string(mode) + ".b32 %r4|%p0, %r3, %r1, %r2, -1;\n  shfl.sync." + mode + ".b32 %r5|%p1, %r3, " +
            std::to_string(b) + ", " + std::to_string(c) +
            ", -1;\n  selp.u32 %r6, 1, 0, %p0; selp.u32 %r7, 1, 0, %p1;\n"
            "  mul.wide.u32 %rd2, %r0, 16; add.s64 %rd3, %rd0, %rd2;\n"
            "  st.global.v4.u32 [%rd3], {%r4, %r5, %r6, %r7}; ret;\n}\n";
        ASSERT_EQ(run(text, {out.address, operands.address}), CUDA_SUCCESS) << lastReport();
        auto got = out.read();
        for (uint32_t t = 0; t < 32; ++t) {
          ASSERT_EQ(got[4 * t], got[4 * t + 1]) << mode << " " << b << " " << c << " lane " << t;
          ASSERT_EQ(got[4 * t + 2], got[4 * t + 3]) << mode << " " << b << " " << c << " lane " << t;
        }
      }
}

} // namespace
} // namespace tenon::emulator::test
