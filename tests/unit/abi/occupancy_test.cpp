// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/occupancy.h"

#include <gtest/gtest.h>

namespace tenon::abi {
namespace {

constexpr TargetArch kTuring{75}, kAmpere{80}, kAda{89}, kHopper{90, ArchSuffix::A};

TEST(Occupancy, IsBoundByThreads) {
  const Occupancy found = computeOccupancy(kAmpere, 1024, 32, 0);
  EXPECT_EQ(found.blocksPerSm, 2u);
  EXPECT_EQ(found.limit, OccupancyLimit::Threads);
  EXPECT_EQ(computeOccupancy(kTuring, 1024, 32, 0).blocksPerSm, 1u);
  EXPECT_EQ(computeOccupancy(kAda, 1024, 32, 0).blocksPerSm, 1u) << "1536 threads";
}

TEST(Occupancy, IsBoundByBlocks) {
  const Occupancy found = computeOccupancy(kAmpere, 32, 16, 0);
  EXPECT_EQ(found.blocksPerSm, 32u);
  EXPECT_EQ(found.limit, OccupancyLimit::Blocks);
}

TEST(Occupancy, IsBoundByRegisters) {
  // 128 registers: 4096 for a warp, 16 warps, 2 workgroups of 8.
  const Occupancy found = computeOccupancy(kHopper, 256, 128, 0);
  EXPECT_EQ(found.blocksPerSm, 2u);
  EXPECT_EQ(found.limit, OccupancyLimit::Registers);
  // 33 registers take 1280 of a warp's: 12 warps in each of four partitions.
  EXPECT_EQ(computeOccupancy(kAmpere, 128, 33, 0).blocksPerSm, 12u);
}

TEST(Occupancy, IsBoundBySharedMemory) {
  // 48 KiB and the 1 KiB that the system keeps: three times in 164 KiB.
  const Occupancy found = computeOccupancy(kAmpere, 128, 32, 48 << 10);
  EXPECT_EQ(found.blocksPerSm, 3u);
  EXPECT_EQ(found.limit, OccupancyLimit::SharedMemory);
  EXPECT_EQ(computeOccupancy(kHopper, 128, 32, 227 << 10).blocksPerSm, 1u);
  EXPECT_EQ(computeOccupancy(kHopper, 128, 32, 228 << 10).blocksPerSm, 0u) << "not even one";
}

TEST(Occupancy, OfAnUnknownPartIsUnknown) {
  const Occupancy found = computeOccupancy({99}, 128, 32, 0);
  EXPECT_EQ(found.limit, OccupancyLimit::Unknown);
  EXPECT_EQ(found.blocksPerSm, 0u);
  EXPECT_EQ(findMultiprocessor({99}), nullptr);
  EXPECT_EQ(findMultiprocessor(kHopper)->sharedBytes, 228u << 10);
}

TEST(Occupancy, KnowsEveryArchitectureThatPtxKnows) {
  for (const ArchInfo &info : knownArchs())
    EXPECT_NE(findMultiprocessor(info.arch), nullptr) << info.arch.toString();
}

// CUDA Programming Guide 13.0, "Technical Specifications per Compute Capability", for 7.5 to 9.0, 10.0, 11.0 and 12.0;
// cuda/__device/arch_traits.h of NVIDIA's CCCL (2026) says the same, and has the others. 10.1 was 11.0's number.
struct Published {
  uint16_t number = 0;
  uint32_t blocks = 0, warps = 0, sharedKib = 0, blockSharedKib = 0;
};
constexpr Published kPublished[] = {
    {60, 32, 64, 64, 48},    {61, 32, 64, 96, 48},    {62, 32, 64, 64, 48},    {70, 32, 64, 96, 96},
    {75, 16, 32, 64, 64},    {80, 32, 64, 164, 163},  {86, 16, 48, 100, 99},   {87, 16, 48, 164, 163},
    {88, 16, 48, 100, 99},   {89, 24, 48, 100, 99},   {90, 32, 64, 228, 227},  {100, 32, 64, 228, 227},
    {101, 24, 48, 228, 227}, {103, 32, 64, 228, 227}, {110, 24, 48, 228, 227}, {120, 24, 48, 100, 99},
    {121, 24, 48, 100, 99},
};

TEST(Occupancy, HasTheLimitsThatArePublished) {
  for (const Published &row : kPublished) {
    const MultiprocessorLimits *limits = findMultiprocessor({row.number});
    ASSERT_NE(limits, nullptr) << row.number;
    EXPECT_NE(findArch({row.number}), nullptr) << row.number;
    EXPECT_EQ(limits->blocks, row.blocks) << row.number;
    EXPECT_EQ(limits->threads, row.warps * 32) << row.number;
    EXPECT_EQ(limits->sharedBytes, row.sharedKib << 10) << row.number;
    EXPECT_EQ(limits->blockSharedBytes, row.blockSharedKib << 10) << row.number;
  }
}

TEST(Occupancy, OfWhatCannotBeLaunchedIsNone) {
  auto expectNone = [](const Occupancy &found, OccupancyLimit limit) {
    EXPECT_EQ(found.blocksPerSm, 0u);
    EXPECT_EQ(found.limit, limit);
  };
  expectNone(computeOccupancy(kAmpere, 1025, 32, 0), OccupancyLimit::Threads);
  expectNone(computeOccupancy(kAmpere, UINT64_MAX, 32, 0), OccupancyLimit::Threads);
  expectNone(computeOccupancy(kAmpere, 32, 32, UINT64_MAX), OccupancyLimit::SharedMemory);
  expectNone(computeOccupancy(kAmpere, 32, UINT32_MAX, 0), OccupancyLimit::Registers);
  // 48 KiB of 96 for a workgroup.
  expectNone(computeOccupancy({61}, 128, 32, 64 << 10), OccupancyLimit::SharedMemory);
  EXPECT_EQ(computeOccupancy({61}, 128, 32, 48 << 10).blocksPerSm, 2u);
  // Half of the registers for a workgroup.
  expectNone(computeOccupancy({62}, 1024, 64, 0), OccupancyLimit::Registers);
  EXPECT_EQ(computeOccupancy({61}, 1024, 64, 0).blocksPerSm, 1u);
}

TEST(Occupancy, CountsRegistersByPartition) {
  // 192 registers: 6144 for a warp, five in each of two partitions, two in each of four.
  EXPECT_EQ(computeOccupancy({60}, 64, 192, 0).blocksPerSm, 5u);
  EXPECT_EQ(computeOccupancy({61}, 64, 192, 0).blocksPerSm, 4u);
}

} // namespace
} // namespace tenon::abi
