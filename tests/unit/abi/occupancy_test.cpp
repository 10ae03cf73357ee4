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
