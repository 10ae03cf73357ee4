// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cooperative groups of more than a warp against the host.
#include "tests/kernels/driver.h"

#include <algorithm>
#include <numeric>

namespace tenon::kernels {
namespace {

class GroupKernels : public Kernels {
protected:
  void checkTiles(size_t size) {
    const size_t count = 1024;
    auto in = integers(count, size, -1000, 999);
    in[700] = 3;
    Array<int> din(in), out(4 * count);
    ASSERT_EQ(launch({2}, {512}, 0, din.address, out.address), CUDA_SUCCESS);
    auto got = out.read();
    for (size_t t = 0; t < count; ++t) {
      auto begin = in.begin() + static_cast<ptrdiff_t>(t / size * size), end = begin + static_cast<ptrdiff_t>(size);
      ASSERT_EQ(got[4 * t], std::accumulate(begin, end, 0)) << t;
      ASSERT_EQ(got[4 * t + 1], std::accumulate(begin, in.begin() + static_cast<ptrdiff_t>(t) + 1, 0)) << t;
      ASSERT_EQ(got[4 * t + 2], begin[5]) << t;
      ASSERT_EQ(got[4 * t + 3], std::count(begin, end, 3) > 0) << t;
    }
  }
};

TEST_F(GroupKernels, TilesOf64) {
  TENON_KERNEL("groups", "tiles64");
  checkTiles(64);
}
TEST_F(GroupKernels, TilesOf256) {
  TENON_KERNEL("groups", "tiles256");
  checkTiles(256);
}
TEST_F(GroupKernels, TilesOf512) {
  TENON_KERNEL("groups", "tiles512");
  checkTiles(512);
}

TEST_F(GroupKernels, TilesWaitForThemselves) {
  TENON_KERNEL("groups", "tileBarrier");
  auto in = integers(512, 7, -1000, 999);
  Array<int> din(in), out(512);
  ASSERT_EQ(launch({1}, {512}, 0, din.address, out.address), CUDA_SUCCESS);
  auto got = out.read();
  for (size_t t = 0; t < 512; ++t) {
    int want = 0;
    for (size_t round = 0; round <= t / 128; ++round)
      want += in[t / 128 * 128 + (t + 33) % 128] + static_cast<int>(round);
    ASSERT_EQ(got[t], want) << t;
  }
}

TEST_F(GroupKernels, LabelsOfAWarp) {
  TENON_KERNEL("groups", "labels");
  auto in = integers(128, 9, 0, 99);
  Array<int> din(in), out(128);
  ASSERT_EQ(launch({1}, {128}, 0, din.address, out.address), CUDA_SUCCESS);
  auto got = out.read();
  for (size_t t = 0; t < 128; ++t) {
    auto warp = in.begin() + static_cast<ptrdiff_t>(t / 32 * 32);
    EXPECT_EQ(got[t], std::count_if(warp, warp + 32, [&](int v) { return v % 5 == in[t] % 5; })) << t;
  }
}

TEST_F(GroupKernels, CopiesByABlock) {
  TENON_KERNEL("groups", "reverseBlocks");
  auto in = integers(4 * 96, 11, -1000, 999);
  Array<int> din(in), out(in.size());
  ASSERT_EQ(launch({4}, {96}, 96 * sizeof(int), din.address, out.address), CUDA_SUCCESS);
  for (size_t b = 0; b < 4; ++b)
    std::reverse(in.begin() + static_cast<ptrdiff_t>(96 * b), in.begin() + static_cast<ptrdiff_t>(96 * b + 96));
  EXPECT_EQ(out.read(), in);
}

} // namespace
} // namespace tenon::kernels
